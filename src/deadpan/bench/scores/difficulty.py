"""Difficulty of items: which separate models, and which are answered alike by all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb

import numpy as np

from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.comparison import check_same
from deadpan.bench.scores.score import ItemAnswers, item_answers, system_kind
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.results import Result
from deadpan.validation import encode

FEWEST_MODELS = 3
"""The number of models that discrimination needs."""
_SHOWN_ITEMS = 15

_ALPHA = 0.05  # the level of the tests per item


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """An item across models. `discrimination`: correlation with the rest of the set, None if undefined."""

    item: str
    category: str
    easiness: float
    discrimination: float | None
    state: str
    tempting: str
    """The most frequent wrong letter; empty if there is none."""
    p: float
    """The exact p-value of no difference between the models on this item."""
    p_adjusted: float
    """The p-value after the correction of Benjamini and Hochberg over all items."""

    @property
    def separates(self) -> bool:
        """True if the models are significantly different on this item."""
        return self.p_adjusted < _ALPHA


@dataclass(frozen=True, slots=True)
class ItemReport(Result):
    """Every item across models, hardest first."""

    items: tuple[ItemFacts, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"ItemReport({len(self.items)} items)"

    def as_dict(self) -> dict[str, object]:
        """Return every item."""
        separating = sum(each.separates for each in self.items)
        return {"separating": separating, "items": encode(self.items)}

    def summary(self) -> Summary:
        """Return the hardest items, and the number of items in each state."""
        rows: list[tuple[Cell, ...]] = [
            (each.item, each.category, each.easiness, each.discrimination, each.state, each.tempting)
            for each in self.items[:_SHOWN_ITEMS]
        ]
        columns = ("item", "category", "right", "discr.", "state", "tempts")
        states = ", ".join(f"{n} {state}" for state, n in Counter(each.state for each in self.items).items())
        separating = sum(each.separates for each in self.items)
        notes = (
            f"The {len(rows)} hardest of {len(self.items)} items; in all: {states}.",
            f"{separating} items separate the models significantly (exact test over runs, false discovery",
            "rate of 5 % over items by Benjamini and Hochberg); unclear: a difference that may be chance.",
            "right: mean share of right answers; discr.: correlation with the rest of the set across models;",
            "tempts: the most frequent wrong letter. --json lists every item.",
        )
        return Summary((Table(columns, tuple(rows)),), notes)


def item_report(runs: Sequence[BenchRun]) -> ItemReport:
    """Return which items separate the models of some runs; refused for a private set."""
    if not all(run.public for run in runs):
        raise DataError("items of a private set are never shown: leave out --items")
    return ItemReport(tuple(sorted(item_facts(runs), key=lambda facts: (facts.easiness, facts.item))))


def item_facts(runs: Sequence[BenchRun]) -> list[ItemFacts]:
    """Return every item across the models; baselines and people do not count as models.

    Runs on a part of the set count only if there are no others, since an item needs every model.
    """
    check_same(runs)
    models = [run for run in runs if system_kind(run.plan.model) == "model"]
    models = [run for run in models if run.plan.whole_set] or models
    if not models:
        raise DataError("no model among the runs: add a run of a model, baselines and people do not count")
    asked = [{each.item: each for each in item_answers(run.rows)} for run in models]
    shared = [item for item in asked[0] if all(item in each for each in asked)]
    right = np.array([[each[item].right for item in shared] for each in asked])
    totals = right.sum(axis=1)
    p_values = [_exact_p([each[item] for each in asked]) for item in shared]
    facts = []
    for at, (item, p, adjusted) in enumerate(zip(shared, p_values, benjamini_hochberg(p_values), strict=True)):
        column, first = right[:, at], asked[0][item]
        apart = _correlation(column, totals - column)
        wrong = [
            letter for each in asked for letter in each[item].predictions if letter and letter != each[item].answer
        ]
        tempting = max(sorted(set(wrong)), key=wrong.count) if wrong else ""
        facts.append(
            ItemFacts(
                item,
                first.category,
                float(column.mean()),
                apart,
                _state(column, apart, adjusted),
                tempting,
                p,
                adjusted,
            )
        )
    return facts


def _exact_p(answers: Sequence[ItemAnswers]) -> float:
    runs = [len(each.predictions) for each in answers]
    return exact_p([round(each.right * of) for each, of in zip(answers, runs, strict=True)], runs)


def _state(column: np.ndarray[tuple[int], np.dtype[np.float64]], apart: float | None, adjusted: float) -> str:
    """Return the state of an item; one that better models miss more often may have a wrong key."""
    if (column == 1).all():
        return "dead: all right"
    if (column == 0).all():
        return "dead: all wrong"
    if apart is not None and apart < 0:
        return "backwards"
    return "separates" if adjusted < _ALPHA else "unclear"


def _correlation(
    column: np.ndarray[tuple[int], np.dtype[np.float64]], rest: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    """Correlate an item with the rest of the set, across models."""
    if len(column) < FEWEST_MODELS or column.std() == 0 or rest.std() == 0:
        return None
    return float(np.corrcoef(column, rest)[0, 1])


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
