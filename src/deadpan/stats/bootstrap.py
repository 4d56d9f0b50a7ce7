"""Cluster bootstrap: fast for scores that are functions of sums, general for any other function.

Rows of one thread or author are not independent, so clusters are resampled, not rows. Most scores depend
only on sums over rows (a confusion matrix is six of them), and clusters with the same sums are
interchangeable: it is enough to draw how often each *kind* of cluster appears. Two thousand resamples
of thousands of rows then take milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deadpan.arguments import check_list, check_seed, check_whole
from deadpan.errors import ConfigError
from deadpan.stats.clusters import cluster_codes, cluster_sums
from deadpan.stats.interval import (
    LEVEL,
    ONE_CLUSTER,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    percentile_interval,
    undefined,
)

RESAMPLES = 2000
MOST_RESAMPLES = 1_000_000
"""More would not change an interval, only take hours."""
CELLS_AT_ONCE = 4_000_000

Statistic = Callable[[IntArray], float | None]
"""A score of some rows, given their row numbers (with repeats). None or NaN where it is undefined."""


def check_resamples(resamples: int) -> int:
    """Return the number of resamples if it is at least 1 and not absurdly large."""
    number = check_whole(resamples, "the number of bootstrap resamples", 1)
    if number > MOST_RESAMPLES:
        raise ConfigError(
            f"the number of bootstrap resamples must be at most {MOST_RESAMPLES:,}: got {number:,}; "
            f"{RESAMPLES:,} are enough for a 95 % confidence interval"
        )
    return number


def kinds_of_clusters(columns: FloatArray, clusters: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows of per-cluster sums, and the number of clusters that have each.

    Clusters with nothing a score counts (all sums zero) are excluded: drawing them would only make
    the size of a resample vary.
    """
    sums = cluster_sums(columns, clusters)
    kinds, multiplicity = np.unique(sums[sums.any(axis=1)], axis=0, return_counts=True)
    return kinds, multiplicity


def draw_kinds(multiplicity: IntArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw how often each kind of cluster appears in each resample (resamples x kinds)."""
    clusters = int(multiplicity.sum())
    if 4 * len(multiplicity) < clusters:
        return rng.multinomial(clusters, multiplicity / clusters, size=resamples).astype(np.float64)
    # With nearly as many kinds as clusters, drawing single clusters and counting them is faster.
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
    """Return the score of each resample, where `of` maps column sums (resamples x columns) to scores.

    The resamples are drawn in batches, so memory stays bounded for any number of clusters and columns.
    """
    rng = np.random.default_rng(check_seed(seed))
    at_once = max(1, CELLS_AT_ONCE // max(int(multiplicity.sum()), kinds.shape[1]))
    pieces = []
    for start in range(0, check_resamples(resamples), at_once):
        drawn = draw_kinds(multiplicity, min(at_once, resamples - start), rng)
        pieces.append(of(drawn @ kinds))
    return np.concatenate(pieces)


def resample_rows(
    statistic: Statistic, clusters: IntArray, resamples: int = RESAMPLES, seed: int = 0
) -> FloatArray:
    """Return the score of each resample for any function of rows, NaN where it is undefined."""
    rng = np.random.default_rng(check_seed(seed))
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
    limits: tuple[float, float] | None = None,
) -> Interval:
    """Return any function of rows with a percentile interval from the bootstrap.

    `groups` has one name per row; rows that share a non-empty name are resampled together. `limits` are the
    smallest and largest possible value, (0, 1) for a share: where every resample gives the same value, the
    interval follows from them, and without them there is none.
    """
    check_level(level)
    check_statistic(statistic)
    groups = check_list(groups, "groups")
    rows = len(groups)
    if rows == 0:
        return undefined("no rows", 0, level)
    clusters = cluster_codes(groups)
    value = statistic(np.arange(rows))
    if value is None or np.isnan(value):
        return undefined("undefined on these data", rows, level)
    if clusters.max() == 0:
        return Interval(float(value), None, None, level, rows, ONE_CLUSTER)
    replicates = resample_rows(statistic, clusters, resamples, seed)
    k = int(clusters.max()) + 1
    return percentile_interval(float(value), replicates, rows, level, clusters=k, limits=limits)


def check_statistic(statistic: Statistic) -> None:
    """Raise an error that shows an example if the statistic is not a function."""
    if not callable(statistic):
        raise ConfigError(
            f"a statistic must be a function of row numbers, got {statistic!r}: pass one such as "
            "lambda rows: values[rows].mean()"
        )


def totals_interval(
    kinds: FloatArray,
    multiplicity: IntArray,
    of: Callable[[FloatArray], FloatArray],
    n: int,
    why: str = "",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    *,
    limits: tuple[float, float] | None = None,
    whole: Callable[[FloatArray], FloatArray] | None = None,
) -> Interval:
    """Return a score of column sums with a percentile interval; `why` qualifies the value.

    Where every resample gives the same value, the interval follows from the `limits` of the score and from
    the clusters that count for it: `whole` maps their sums to what the score divides by (... x parts).
    """
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
    counted = clusters if whole is None else counted_clusters(whole(kinds), multiplicity)
    return percentile_interval(value, replicates, n, level, why, clusters=counted, limits=limits)


def counted_clusters(wholes: FloatArray, multiplicity: IntArray) -> int:
    """Return how many clusters a score is about; of a score with several parts, the fewest of a part."""
    return int((multiplicity @ (wholes > 0)).min())


def clustered_mean(
    values: FloatArray,
    groups: Sequence[str],
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    limits: tuple[float, float] | None = None,
) -> Interval:
    """Return a mean with a percentile interval over groups, much faster than `bootstrap_interval`."""
    if not len(values):
        return undefined("no rows", 0, level)
    columns = np.stack([np.asarray(values, np.float64), np.ones(len(values))], axis=1)
    kinds, multiplicity = kinds_of_clusters(columns, cluster_codes(groups))
    return totals_interval(
        kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], len(values), "",
        resamples, level, seed, limits=limits,
    )  # fmt: skip
