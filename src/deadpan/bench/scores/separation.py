"""Tests of whether an item separates models: exact per item, corrected over all items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import comb


def exact_p(right: Sequence[int], runs: Sequence[int]) -> float:
    """Return the p-value of "all models answer this item equally well" (Fisher, Freeman and Halton).

    `right` and `runs` count, per model, its right answers to the item and its runs. The test is exact: it
    adds the probabilities of all tables with the same margins that are no more likely than the observed one.
    """
    weights = _weights(tuple(sorted(runs)))[sum(right)]
    seen = 1
    for correct, of in zip(right, runs, strict=True):
        seen *= comb(of, correct)
    return sum(count * weight for weight, count in weights.items() if weight <= seen) / sum(
        count * weight for weight, count in weights.items()
    )


@lru_cache(maxsize=64)
def _weights(runs: tuple[int, ...]) -> dict[int, Counter[int]]:
    """Return, per total of right answers, the weight of every table and how many tables have it."""
    states: dict[int, Counter[int]] = {0: Counter({1: 1})}
    for of in runs:
        grown: dict[int, Counter[int]] = {}
        for total, weights in states.items():
            for correct in range(of + 1):
                into = grown.setdefault(total + correct, Counter())
                for weight, count in weights.items():
                    into[weight * comb(of, correct)] += count
        states = grown
    return states


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values: those below 0.05 have a false discovery rate of at most 5 %."""
    order = sorted(range(len(p_values)), key=lambda at: -p_values[at])
    adjusted, smallest = [1.0] * len(p_values), 1.0
    for place, at in enumerate(order):
        smallest = min(smallest, p_values[at] * len(p_values) / (len(p_values) - place))
        adjusted[at] = smallest
    return adjusted
