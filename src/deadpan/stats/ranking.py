"""Area under the ROC curve: how often a sarcastic example scores higher than a sincere one."""

from __future__ import annotations

import numpy as np

from deadpan.stats.bootstrap import RESAMPLES, check_resamples
from deadpan.stats.interval import (
    LEVEL,
    ONE_CLUSTER,
    BoolArray,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    percentile_interval,
    undefined,
)

ROWS_AT_MOST = 40_000_000
"""Rows looked at over all resamples: of very many examples fewer resamples are enough."""
FEWEST_RESAMPLES = 200


def area_under_curve(truth: BoolArray, scores: FloatArray) -> float:
    """Return the share of (sarcastic, sincere) pairs in the right order, a tie counting half."""
    values, place = np.unique(scores, return_inverse=True)
    return _area(truth, place, len(values), np.ones(len(truth)))


def _area(truth: BoolArray, place: IntArray, width: int, weight: FloatArray) -> float:
    """Return the area for weighted rows whose scores have been ranked; NaN where a label is missing."""
    sarcastic = np.bincount(place, weights=weight * truth, minlength=width)
    sincere = np.bincount(place, weights=weight * ~truth, minlength=width)
    total = sarcastic.sum() * sincere.sum()
    if not total:
        return float("nan")
    below = np.cumsum(sincere) - sincere
    return float((sarcastic * (below + sincere / 2)).sum() / total)


def auc_interval(
    truth: BoolArray,
    scores: FloatArray,
    clusters: IntArray,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Return the area under the ROC curve with a percentile interval that resamples whole clusters."""
    check_level(level)
    n = len(truth)
    if not n or truth.all() or not truth.any():
        return undefined("examples of both labels are needed", n, level)
    values, place = np.unique(scores, return_inverse=True)
    codes = np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    value = _area(truth, place, len(values), np.ones(n))
    if count == 1:
        return Interval(value, None, None, level, n, ONE_CLUSTER)
    rng = np.random.default_rng(seed)
    times = min(check_resamples(resamples), max(FEWEST_RESAMPLES, ROWS_AT_MOST // n))
    replicates = np.empty(times)
    for at in range(times):
        drawn = np.bincount(rng.integers(count, size=count), minlength=count).astype(np.float64)
        replicates[at] = _area(truth, place, len(values), drawn[codes])
    # Every comparison needs one example of each label, so the rarer label's clusters limit what is known.
    rarer = min(len(np.unique(codes[truth])), len(np.unique(codes[~truth])))
    return percentile_interval(value, replicates, n, level, clusters=rarer, limits=(0.0, 1.0))
