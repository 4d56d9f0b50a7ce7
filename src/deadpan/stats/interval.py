"""A value with its confidence interval: Wilson's, or a bootstrap over clusters of dependent rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_list, check_seed, check_whole
from deadpan.errors import ConfigError, DataError
from deadpan.results import Interval as Interval

LEVEL = 0.95
"""The default confidence level."""

ONE_CLUSTER = "one cluster only: no interval"

SAME = 1e-12
"""Sums of the same numbers in another order differ by less."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def interval_name(level: float = LEVEL, kind: str = "confidence") -> str:
    """Return the name of an interval: "95 % confidence interval", or of its kind: "95 % Wilson interval"."""
    return f"{100 * level:g} % {kind} interval"


def undefined(why: str, n: int = 0, level: float = LEVEL) -> Interval:
    """Return an Interval without a value, and the reason."""
    return Interval(None, None, None, level, n, why)


def check_level(level: float) -> float:
    """Return the confidence level if it lies between 0 and 1."""
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ConfigError(f"a confidence level is between 0 and 1, such as 0.95: got {level!r}")
    return level


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Return a proportion of independent trials with Wilson's score interval, valid also for small n."""
    check_level(level)
    successes, n = check_whole(successes, "successes"), check_whole(n, "n")
    if not 0 <= successes <= n:
        raise DataError(f"a proportion needs 0 <= successes <= n: got {successes} of {n}")
    if n == 0:
        return undefined("no trials", 0, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the bound is exact; rounding must not push it past the value.
    low = 0.0 if successes == 0 else min(middle - half, share)
    high = 1.0 if successes == n else max(middle + half, share)
    return Interval(share, low, high, level, n)


SAME_EVERYWHERE = "every resample gives the same value"
"""Resampling shows no spread then, so the interval is Wilson's, not a bootstrap's."""


def unvaried_interval(
    value: float, clusters: int, n: int, level: float = LEVEL, limits: tuple[float, float] | None = None, why: str = ""
) -> Interval:
    """Return the interval where every cluster gives the same value, so that resampling shows no spread.

    Some clusters may have another value although none of the observed ones has: their share is at most the
    upper end of Wilson's interval of 0 of `clusters`. They could be anywhere between the `limits` of the
    score. For a share of 0 or 1 this is Wilson's interval. Without limits or clusters there are no ends.
    """
    said = why if SAME_EVERYWHERE in why else "; ".join(part for part in (why, SAME_EVERYWHERE) if part)
    if limits is None or clusters < 1:
        return Interval(value, None, None, level, n, said)
    share = wilson(0, clusters, level).high or 0.0
    low, high = (value + share * (limit - value) for limit in limits)
    return Interval(value, min(low, value), max(high, value), level, n, said)


def percentile_interval(
    value: float,
    replicates: FloatArray,
    n: int,
    level: float = LEVEL,
    why: str = "",
    *,
    clusters: int = 0,
    limits: tuple[float, float] | None = None,
) -> Interval:
    """Return the percentile interval of a bootstrap. Replicates that are NaN are undefined and excluded.

    The interval is widened where needed to contain the value: with few clusters the percentiles of a
    skewed score can lie to one side of it. Where every resample gives the same value (all answers right), or
    so many that the percentiles show no spread, the interval is that of `unvaried_interval` with these
    clusters and limits, never one of width 0.
    """
    check_level(level)
    if math.isnan(value):
        return undefined(why or "undefined on these data", n, level)
    kept = replicates[~np.isnan(replicates)]
    remarks = [why] if why else []
    if kept.size == 0:
        return Interval(value, None, None, level, n, "; ".join([*remarks, "no resample gives a value"]))
    if kept.size < replicates.size:
        remarks.append(f"{replicates.size - kept.size} of {replicates.size} resamples undefined, left out")
    if kept.max() - kept.min() < SAME:
        return unvaried_interval(value, clusters, n, level, limits, "; ".join(remarks))
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    if high - low < SAME and abs(value - high) < SAME:
        said = "; ".join([*remarks, f"nearly {SAME_EVERYWHERE}"])
        return unvaried_interval(value, clusters, n, level, limits, said)
    return Interval(value, min(float(low), value), max(float(high), value), level, n, "; ".join(remarks))


def cluster_sums(columns: FloatArray, clusters: IntArray) -> FloatArray:
    """Return the sums of columns (rows x columns) over the rows of each cluster (clusters x columns)."""
    return np.stack([np.bincount(clusters, weights=column) for column in columns.T], axis=1)


def cluster_codes(*keys: Sequence[str]) -> IntArray:
    """Return the connected components of rows that share a key, as one number per row.

    Each argument is one kind of key (group, sequence) with a string per row; rows that share a non-empty
    key are connected, and an empty key connects nothing. A sequence that spans two groups joins them.
    Numbers count from 0 in order of first appearance.
    """
    columns = [check_list(column, "keys") for column in keys]
    rows = len(columns[0]) if columns else 0
    if any(len(column) != rows for column in columns):
        lengths = ", ".join(str(len(column)) for column in columns)
        raise DataError(f"keys need one string per row: the columns have {lengths} rows")
    for column in columns:
        if strange := [key for key in column if not isinstance(key, str)]:
            raise DataError(f"a key must be text, got {strange[0]!r}: use an empty string for none")
    parents = list(range(rows))
    for column in columns:
        first_with: dict[str, int] = {}
        for row, key in enumerate(column):
            if key:
                parents[_root(parents, row)] = _root(parents, first_with.setdefault(key, row))
    numbers: dict[int, int] = {}
    codes = [numbers.setdefault(_root(parents, row), len(numbers)) for row in range(rows)]
    return np.array(codes, dtype=np.int64)


def _root(parents: list[int], row: int) -> int:
    """Return the root of a row's component, halving the path on the way (union-find)."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


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


# Rows of one thread or author are not independent, so clusters are resampled, not rows. Most scores depend
# only on sums over rows (a confusion matrix is six of them), and clusters with the same sums are
# interchangeable: it is enough to draw how often each distinct row of sums appears, which takes milliseconds.


def unique_clusters(columns: FloatArray, clusters: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows of per-cluster sums, and the number of clusters that have each.

    Clusters with nothing a score counts (all sums zero) are excluded: drawing them would only make
    the size of a resample vary.
    """
    sums = cluster_sums(columns, clusters)
    kinds, multiplicity = np.unique(sums[sums.any(axis=1)], axis=0, return_counts=True)
    return kinds, multiplicity


def resample_counts(multiplicity: IntArray, resamples: int, rng: np.random.Generator) -> FloatArray:
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
        drawn = resample_counts(multiplicity, min(at_once, resamples - start), rng)
        pieces.append(of(drawn @ kinds))
    return np.concatenate(pieces)


def resample_rows(statistic: Statistic, clusters: IntArray, resamples: int = RESAMPLES, seed: int = 0) -> FloatArray:
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
    kinds, multiplicity = unique_clusters(columns, cluster_codes(groups))
    return totals_interval(
        kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], len(values), "",
        resamples, level, seed, limits=limits,
    )  # fmt: skip
