"""Agreement on answers that are not one of a few categories: numbers, and marked words; and peer prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from deadpan.stats.interval import LEVEL, RESAMPLES, FloatArray, Interval, totals_interval, undefined
from deadpan.stats.scores import share

_NO_TWO = "no item has two answers"


def intraclass_correlation(
    rows: Sequence[Sequence[float]], resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Return ICC(1), one-way random effects: one row of numbers per item, of any raters and any number of them.

    The interval resamples items. Items with one answer say nothing about agreement and are left out.
    """
    several = [np.asarray(row, dtype=np.float64) for row in rows if len(row) > 1]
    if len(several) < 2:
        return undefined(_NO_TWO if not several else "one item only", len(several), level)
    sums = [(1.0, len(r), r.sum(), (r**2).sum(), r.sum() ** 2 / len(r), float(len(r) ** 2)) for r in several]

    def of(totals: FloatArray) -> FloatArray:
        items, n, total, squares, between, sizes = np.moveaxis(totals, -1, 0)
        inside = share(squares - between, n - items, np.nan)
        across = share(between - share(total**2, n, np.nan), items - 1, np.nan)
        # Items may have different numbers of answers: their mean, weighted as in the analysis of variance.
        size = share(n - share(sizes, n, np.nan), items - 1, np.nan)
        return share(across - inside, across + (size - 1) * inside, np.nan)

    ones = np.ones(len(sums), dtype=np.int64)
    return totals_interval(np.array(sums), ones, of, len(sums), "", resamples, level, seed)


Marked = tuple[int, Sequence[frozenset[int]]]
"""An item: its number of tokens, and the tokens each rater marked."""


def mark_agreement(
    items: Sequence[Marked], resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> dict[str, Interval]:
    """Return Krippendorff's nominal alpha over tokens (marked or not), and F1 over pairs of raters.

    Tokens of one item are not independent: the intervals resample items.
    """
    rows = [_mark_counts(size, marks) for size, marks in items if len(marks) > 1]
    if not rows:
        return {"alpha": undefined(_NO_TWO, 0, level), "f1": undefined(_NO_TWO, 0, level)}

    def alpha(totals: FloatArray) -> FloatArray:
        neither, one, both = totals[..., 0], totals[..., 1], totals[..., 2]
        n0, n1 = neither + one, both + one
        return 1 - share((n0 + n1 - 1) * one, n0 * n1, np.nan)

    def f1(totals: FloatArray) -> FloatArray:
        return share(totals[..., 3], totals[..., 4], np.nan)

    kinds, ones = np.array(rows, dtype=np.float64), np.ones(len(rows), dtype=np.int64)
    why = "" if kinds[:, 4].sum() else "nothing is marked"
    return {
        "alpha": totals_interval(kinds, ones, alpha, len(rows), why, resamples, level, seed),
        "f1": totals_interval(kinds, ones, f1, len(rows), why, resamples, level, seed, limits=(0.0, 1.0)),
    }


def _mark_counts(size: int, marks: Sequence[frozenset[int]]) -> tuple[float, ...]:
    """Return an item's coincidences (neither, one, both) and F1's numerator and denominator over pairs."""
    raters = len(marks)
    neither = one = both = 0.0
    for token in range(size):
        yes = sum(token in mark for mark in marks)
        both += yes * (yes - 1) / (raters - 1)
        one += yes * (raters - yes) / (raters - 1)
        neither += (raters - yes) * (raters - yes - 1) / (raters - 1)
    pairs = list(combinations(marks, 2))
    return (neither, one, both, sum(2 * len(a & b) for a, b in pairs), sum(len(a) + len(b) for a, b in pairs))


def surprisingly_popular(
    votes: Mapping[str, str], predicted: Mapping[str, float], options: Sequence[str]
) -> str | None:
    """Return the answer that is more common than people predicted; None for a tie or without predictions.

    `votes` is each rater's answer, `predicted` the share of others (0 to 1) each expects to say the same; what is
    left is spread evenly over the other answers (Prelec, Seung and McCoy, 2017).
    """
    raters = [who for who in votes if who in predicted]
    if not raters or len(options) < 2:
        return None
    lead = {}
    for option in options:
        rest = [(1 - predicted[who]) / (len(options) - 1) for who in raters if votes[who] != option]
        expected = sum(rest) + sum(predicted[who] for who in raters if votes[who] == option)
        lead[option] = (sum(votes[who] == option for who in raters) - expected) / len(raters)
    best = max(lead.values())
    winners = [option for option in options if best - lead[option] < 1e-9]
    return winners[0] if len(winners) == 1 else None
