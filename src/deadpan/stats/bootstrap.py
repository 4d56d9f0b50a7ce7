"""Resampling whole clusters: fast where a score is a function of sums, and for any function at all.

Rows of one thread or author are not independent, so clusters are drawn, not rows. Most scores depend
only on sums over rows (a confusion matrix is six of them), and clusters with the same sums are
interchangeable: it is enough to draw how often each *kind* of cluster comes up. Two thousand resamples
of thousands of rows then take milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deadpan.errors import ConfigError
from deadpan.stats.clusters import cluster_codes
from deadpan.stats.interval import (
    LEVEL,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    percentile_interval,
    undefined,
)

RESAMPLES = 2000
ONE_CLUSTER = "one cluster only: no interval"
CELLS_AT_ONCE = 4_000_000

Statistic = Callable[[IntArray], float | None]
"""A score of some rows, given their numbers (with repeats). None or NaN where it is undefined."""


def check_resamples(resamples: int) -> int:
    """The number of resamples itself if it can be one."""
    if resamples < 1:
        raise ConfigError(f"a bootstrap needs at least one resample: got {resamples}")
    return resamples


def kinds_of_clusters(columns: FloatArray, clusters: IntArray) -> tuple[FloatArray, IntArray]:
    """The distinct rows of per-cluster sums, and how many clusters have each.

    Clusters that hold nothing a score counts (all sums zero) are left out: drawing them would only make
    the size of a resample vary.
    """
    sums: FloatArray = np.stack([np.bincount(clusters, weights=column) for column in columns.T], axis=1)
    kinds, multiplicity = np.unique(sums[sums.any(axis=1)], axis=0, return_counts=True)
    return kinds, multiplicity


def draw_kinds(multiplicity: IntArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each kind comes up in each resample of as many clusters as there are (resamples x kinds)."""
    clusters = int(multiplicity.sum())
    if 4 * len(multiplicity) < clusters:
        return rng.multinomial(clusters, multiplicity / clusters, size=resamples).astype(np.float64)
    # With nearly as many kinds as clusters, drawing cluster by cluster and counting is the quicker way.
    kind_of = np.repeat(np.arange(len(multiplicity)), multiplicity)
    drawn = kind_of[rng.integers(clusters, size=(resamples, clusters))]
    drawn += np.arange(resamples)[:, None] * len(multiplicity)
    counted = np.bincount(drawn.ravel(), minlength=resamples * len(multiplicity))
    return counted.reshape(resamples, len(multiplicity)).astype(np.float64)


def resample_totals(
    kinds: FloatArray,
    multiplicity: IntArray,
    of: Callable[[FloatArray], FloatArray],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> FloatArray:
    """The score of each resample, where `of` takes column sums (resamples x columns) to scores.

    Worked in pieces, so that memory stays bounded however many clusters or columns there are.
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, CELLS_AT_ONCE // max(int(multiplicity.sum()), kinds.shape[1]))
    pieces = []
    for start in range(0, check_resamples(resamples), at_once):
        drawn = draw_kinds(multiplicity, min(at_once, resamples - start), rng)
        pieces.append(of(drawn @ kinds))
    return np.concatenate(pieces)


def resample_rows(
    statistic: Statistic, clusters: IntArray, resamples: int = RESAMPLES, seed: int = 0
) -> FloatArray:
    """The score of each resample for any function of rows; one call a resample, NaN where undefined."""
    rng = np.random.default_rng(seed)
    order = np.argsort(clusters, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(clusters))[:-1])
    replicates = np.empty(check_resamples(resamples))
    for at in range(resamples):
        drawn = rng.integers(len(members), size=len(members))
        value = statistic(np.concatenate([members[cluster] for cluster in drawn]))
        replicates[at] = np.nan if value is None else value
    return replicates


def bootstrap_interval(
    statistic: Statistic,
    groups: Sequence[str],
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Any function of rows with a percentile interval; rows with one non-empty group are drawn together."""
    check_level(level)
    rows = len(groups)
    if rows == 0:
        return undefined("no rows", 0, level)
    clusters = cluster_codes(groups)
    value = statistic(np.arange(rows))
    if value is None or np.isnan(value):
        return undefined("undefined on these data", rows, level)
    if clusters.max() == 0:
        return Interval(float(value), None, None, level, rows, ONE_CLUSTER)
    return percentile_interval(float(value), resample_rows(statistic, clusters, resamples, seed), rows, level)


def totals_interval(
    kinds: FloatArray,
    multiplicity: IntArray,
    of: Callable[[FloatArray], FloatArray],
    n: int,
    why: str = "",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """A score of column sums with a percentile interval. `why` explains an undefined or agreed value."""
    check_level(level)
    clusters = int(multiplicity.sum())
    if clusters == 0:
        return undefined(why or "nothing to score", n, level)
    value = float(of((multiplicity @ kinds)[None, :])[0])
    if np.isnan(value):
        return undefined(why or "undefined on these data", n, level)
    if clusters == 1:
        return Interval(value, None, None, level, n, "; ".join(part for part in (why, ONE_CLUSTER) if part))
    replicates = resample_totals(kinds, multiplicity, of, resamples, seed)
    return percentile_interval(value, replicates, n, level, why)
