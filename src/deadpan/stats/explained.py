"""Share of a detector's score that something else explains: a shortcut, a source, generated text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadpan.arguments import check_seed
from deadpan.errors import DataError
from deadpan.stats.bootstrap import resample_rows
from deadpan.stats.interval import (
    LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    Interval,
    percentile_interval,
    undefined,
)
from deadpan.stats.ranking import area_under_curve

STRATA = (5, 50)
"""Fewest and most strata of equal size by the shortcut's score, within which the detector is scored again."""

STRATUM = 60
"""Examples per stratum between the two: coarse strata would leave some of the shortcut within them."""

STEPS = 20
"""Steps of the shortcut's range: examples of one stratum differ by less than one of them."""

RESAMPLES = 300
CHANCE = 0.5
LEAST = 0.02
"""A detector closer to chance than this has no score to explain."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The AUC of a detector, of a shortcut, and of the detector among examples the shortcut scores alike.

    `share` is the part of the detector's AUC above chance that disappears within strata: 0 if the shortcut
    explains nothing, 1 if nothing but the shortcut is left.
    """

    detector: float
    shortcut: float
    within: float
    share: Interval


def explained_share(
    truth: BoolArray,
    detector: FloatArray,
    shortcut: FloatArray,
    clusters: IntArray | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Explained:
    """Return how much of a detector's AUC a shortcut explains.

    Both scores must come from examples that neither was trained on. The detector is scored again among
    examples with about the same score of the shortcut; what it loses there, the shortcut explains.
    """
    check_seed(seed)
    truth = np.asarray(truth, dtype=np.bool_)
    if not len(truth) == len(detector) == len(shortcut):
        raise DataError("explained_share needs one label and two scores per example")
    if not truth.any() or truth.all():
        raise DataError("explained_share needs both labels")
    whole = area_under_curve(truth, detector)
    alone = area_under_curve(truth, shortcut)
    stratum = _strata(shortcut, min(max(len(truth) // STRATUM, STRATA[0]), STRATA[1]))
    within = _within(truth, detector, stratum)
    n = len(truth)
    if whole - CHANCE < LEAST:
        return Explained(whole, alone, within or CHANCE, undefined("the detector is at chance", n, level))
    if within is None:
        everything = Interval(1.0, None, None, level, n, "the shortcut alone tells the labels apart")
        return Explained(whole, alone, CHANCE, everything)

    def share(rows: IntArray) -> float | None:
        left, of = (
            _within(truth[rows], detector[rows], stratum[rows]),
            area_under_curve(truth[rows], detector[rows]),
        )
        return None if left is None or of - CHANCE < LEAST else 1 - (left - CHANCE) / (of - CHANCE)

    codes = np.arange(n) if clusters is None else clusters
    replicates = resample_rows(share, codes, resamples, seed)
    if np.isnan(replicates).mean() > (1 - level) / 2:  # a share of nearly nothing may be any number
        unclear = undefined("the detector is not clearly above chance", n, level)
        return Explained(whole, alone, within, unclear)
    value = 1 - (within - CHANCE) / (whole - CHANCE)
    return Explained(whole, alone, within, percentile_interval(value, replicates, n, level))


def _strata(shortcut: FloatArray, strata: int) -> IntArray:
    """Return a stratum per example: equal values are never apart, and those far apart never together.

    Strata of equal size would join the last sincere and the first sarcastic examples of a shortcut that
    tells them apart; so a stratum also ends where the score crosses a twentieth of its range.
    """
    values, place, counts = np.unique(shortcut, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    by_size = (middle / len(shortcut) * strata).astype(np.int64)
    width = max(float(values[-1] - values[0]), 1e-12) / STEPS
    by_score = np.minimum(((values - values[0]) / width).astype(np.int64), STEPS - 1)
    of_value: IntArray = by_size + by_score  # neither falls as values rise, so a sum stands for one pair
    return of_value[place]


def _within(truth: BoolArray, scores: FloatArray, stratum: IntArray) -> float | None:
    """Return the mean AUC within strata, weighted by their pairs of one sarcastic and one sincere example."""
    total = weight = 0.0
    for one in np.unique(stratum):
        rows = stratum == one
        pairs = float(truth[rows].sum()) * float((~truth[rows]).sum())
        if pairs:
            total += pairs * area_under_curve(truth[rows], scores[rows])
            weight += pairs
    return total / weight if weight else None
