"""Paired comparison of two systems by their scores on the same items: interval, test and power.

Items of one cluster (a thread, an author, the paraphrases of one question) are not independent, so the
interval resamples whole clusters and the test flips the sign of whole clusters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_seed, check_whole
from deadpan.errors import DataError
from deadpan.results import Result
from deadpan.stats.bootstrap import ONE_CLUSTER, kinds_of_clusters, resample_totals
from deadpan.stats.interval import (
    LEVEL,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    undefined,
    unvaried_interval,
)
from deadpan.stats.power import (
    POINTS,
    POWER,
    expanded_tail,
    items_needed,
    minimum_detectable_difference,
    power_to_detect,
    t_quantile,
)

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

RESAMPLES = 10_000
"""Bootstrap resamples: the ends of an interval decide like a test, so their tails are drawn finely."""

FLIPS = 10_000
"""Random sign flips of the permutation test."""

ENUMERATED = 13
"""Up to this many clusters that differ, all sign flips are listed instead of drawn."""

MANY = 20_000
"""More clusters than this that all differ are not resampled: means of so many are normal."""

CELLS_AT_ONCE = 4_000_000
_SAME = 1e-9  # sums of the same scores in another order differ by less


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-sided p value, the test it comes from, and how many items each system alone did better on."""

    p: float
    method: str
    better_first: int
    better_second: int


@dataclass(frozen=True, slots=True, repr=False)
class PairedComparison(Result):
    """Two systems on the same items: the mean difference of their scores and what the data can tell.

    `p_holm` is adjusted for all pairs of one call. `detectable` is the difference that items like these
    would detect with 80 % power, `power` the power to detect 2, 5 and 10 points, `needed` the number of
    items that would settle a difference of the size found; None if it is 0 or has no standard error.
    """

    first: str
    second: str
    mean_first: float
    mean_second: float
    difference: Interval
    test: PairedTest
    p_holm: float
    n_clusters: int
    standard_error: float | None
    detectable: float | None
    power: Mapping[float, float]
    needed: int | None

    def __repr__(self) -> str:
        return f"PairedComparison({self.first} - {self.second}: {self.difference}, {self.verdict})"

    @property
    def significant(self) -> bool:
        """True if the Holm-adjusted p value is below 1 - level."""
        return self.p_holm < 1 - self.difference.level

    @property
    def verdict(self) -> str:
        """One phrase: which one is better, or that it is not settled and how many items would settle it."""
        value = self.difference.value
        if value is None:
            return f"undefined ({self.difference.why})"
        if self.significant:
            return f"{self.first if value > 0 else self.second} is better"
        if self.needed is None:
            return "not settled: too few items" if value else "no difference found"
        return f"not settled; about {self.needed:,} items would settle it"

    def as_dict(self) -> dict[str, object]:
        """Return the fields and the verdict, for `--json`."""
        plain = asdict(self)
        plain["power"] = {f"{points:g}": power for points, power in self.power.items()}
        return plain | {"significant": self.significant, "verdict": self.verdict}

    def summary(self) -> Summary:
        """Return a table of one row."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        row = (f"{self.first} - {self.second}", self.difference, self.test.p, self.verdict)
        return Summary((Table(("systems", "difference", "p", "result"), (row,)),))


def compare_paired(
    first: FloatArray,
    second: FloatArray,
    clusters: IntArray,
    *,
    names: tuple[str, str] = ("first", "second"),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PairedComparison:
    """Compare the scores of two systems on the same items; `p_holm` is the plain p value."""
    check_level(level)
    if not len(first) == len(second) == len(clusters):
        raise DataError(
            f"a paired comparison needs one score of each system per item: got {len(first)}, "
            f"{len(second)} and {len(clusters)} clusters"
        )
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    if not np.isfinite(differences).all():
        raise DataError("a paired comparison needs a number per item: remove items without a score")
    n = len(differences)
    limits = (-1.0, 1.0) if within_one(first) and within_one(second) else None
    interval = paired_interval(
        differences, clusters, level=level, resamples=resamples, seed=seed, limits=limits
    )
    test = paired_test(differences, clusters, seed=seed)
    error = standard_error(differences, clusters)
    return PairedComparison(
        first=names[0],
        second=names[1],
        mean_first=float(np.mean(first)) if n else math.nan,
        mean_second=float(np.mean(second)) if n else math.nan,
        difference=interval,
        test=test,
        p_holm=test.p,
        n_clusters=_count(clusters),
        standard_error=error,
        detectable=minimum_detectable_difference(error, level, POWER) if error else None,
        power={points: power_to_detect(points, error, level) for points in POINTS} if error else {},
        needed=items_needed(interval.value, error, n, level) if error and interval.value else None,
    )


def paired_interval(
    differences: FloatArray,
    clusters: IntArray,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    limits: tuple[float, float] | None = None,
) -> Interval:
    """Return the mean difference with an expanded percentile interval of the cluster bootstrap.

    Plain percentiles are too narrow for few clusters, as a z interval is beside a t interval; the tails
    are moved outwards by the ratio of the two (Hesterberg 2015, section 3.3). A handful of clusters cannot
    be resampled into such tails, so the ends are never inside those of the t interval. Scores of 0 and 1
    make the resampled means jump in steps of 1 / n, and a plain percentile ends on the outer step; the
    ends are mid-quantiles instead, as the tests have mid-p values. Where every item gives the same value,
    the ends follow from the `limits` between which values can lie. With more than `MANY` clusters whose sums
    all differ, the interval is the bootstrap's normal limit.
    """
    n = len(differences)
    if n == 0:
        return undefined("no common items", 0, level)
    value, error = float(differences.mean()), standard_error(differences, clusters)
    if error is None:
        return Interval(value, None, None, level, n, ONE_CLUSTER)
    columns = np.stack([differences, np.ones(n)], axis=1)
    kinds, multiplicity = kinds_of_clusters(columns, clusters)
    k = int(multiplicity.sum())
    if len(kinds) > MANY:
        half = NormalDist().inv_cdf((1 + level) / 2) * error
        return Interval(value, value - half, value + half, level, n)
    replicates = resample_totals(
        kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], resamples, check_seed(seed)
    )
    tail = expanded_tail(k, level)
    low, high = mid_quantiles(replicates, (tail, 1 - tail))
    if low == high:
        return unvaried_interval(value, k, n, level, limits)
    half = t_quantile(k, level) * error
    low, high = min(low, value - half), max(high, value + half)
    lowest, highest = limits or (low, high)
    return Interval(value, max(low, lowest), min(high, highest), level, n)


def clustered_share(scores: FloatArray, clusters: IntArray, level: float = LEVEL) -> Interval:
    """Return the mean of scores from 0 to 1 with Wilson's interval over clusters.

    It has as many trials as independent ones would need for the same standard error, and the t quantile of
    the number of clusters. Near 0 and 1 a percentile interval leaves the true mean out twice as often.
    """
    n, k = len(scores), _count(clusters)
    if n == 0:
        return undefined("no common items", 0, level)
    mean, error = float(scores.mean()), standard_error(scores, clusters)
    if error is None:
        return Interval(mean, None, None, level, n, ONE_CLUSTER)
    if error < _SAME:
        return unvaried_interval(mean, k, n, level, (0.0, 1.0))
    spread = t_quantile(k, level) ** 2 * error**2 / (mean * (1 - mean))
    middle = (mean + spread / 2) / (1 + spread)
    half = math.sqrt(spread * mean * (1 - mean) + spread * spread / 4) / (1 + spread)
    return Interval(mean, min(middle - half, mean), max(middle + half, mean), level, n)


def within_one(scores: FloatArray) -> bool:
    """Return whether all scores lie between 0 and 1, as those of right and wrong do."""
    return bool(len(scores)) and float(np.min(scores)) >= 0.0 and float(np.max(scores)) <= 1.0


def mid_quantiles(values: FloatArray, shares: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles interpolated between steps: half of the tied values count as below.

    Values without ties have their usual quantiles; those of a discrete distribution are not biased outwards
    (Ma, Genton and Parzen 2011).
    """
    steps, counts = np.unique(np.round(values, 12), return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    return tuple(float(end) for end in np.interp(shares, middle, steps))


def standard_error(differences: FloatArray, clusters: IntArray) -> float | None:
    """Return the cluster-robust standard error of the mean difference; None for fewer than two clusters."""
    n, k = len(differences), _count(clusters)
    if k < 2:
        return None
    centred = np.bincount(clusters, weights=differences - differences.mean(), minlength=k)
    return math.sqrt(float(centred @ centred) * k / (k - 1)) / n


def _count(clusters: IntArray) -> int:
    """Return the number of clusters, whose codes are 0, 1, 2 and so on."""
    return int(clusters.max(initial=-1)) + 1


def paired_test(
    differences: FloatArray, clusters: IntArray, *, flips: int = FLIPS, seed: int = 0
) -> PairedTest:
    """Test whether the mean difference is 0; the p value is a mid-p value.

    Scores of 0 and 1 on independent items: McNemar's exact test. Otherwise a permutation test that flips
    the sign of whole clusters, which holds if the two systems could be swapped within each cluster. The
    mid-p value counts outcomes as extreme as the observed one by half: exact tests of few discordant items
    would otherwise find too little (Fagerland et al. 2013).
    """
    check_whole(flips, "the number of sign flips", 1)
    k = _count(clusters)
    first, second = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    sizes = np.abs(differences[np.abs(differences) > _SAME])
    if k == len(differences) and (sizes.size == 0 or np.ptp(sizes) <= _SAME):
        return PairedTest(mcnemar_mid_p(first, second), "McNemar's test, mid-p", first, second)
    sums: FloatArray = np.bincount(clusters, weights=differences, minlength=k).astype(np.float64)
    sums = sums[np.abs(sums) > _SAME]
    p, how = _flipped(sums, flips, seed)
    return PairedTest(p, f"permutation test over {'clusters' if k < len(differences) else 'items'}, {how}",
                      first, second)  # fmt: skip


def mcnemar_mid_p(only_first: int, only_second: int) -> float:
    """Return the mid-p value of McNemar's test: half the probability of the observed split is counted."""
    only_first, only_second = check_whole(only_first, "only_first"), check_whole(only_second, "only_second")
    n, few = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    if n > 1_000:  # the normal approximation without a continuity correction is the mid-p value's limit
        return 2 * NormalDist().cdf(-abs(only_first - only_second) / math.sqrt(n))
    below = sum(math.comb(n, count) for count in range(few))
    return min(1.0, (2 * below + math.comb(n, few)) / (1 << n))


def _flipped(sums: FloatArray, flips: int, seed: int) -> tuple[float, str]:
    """Return the mid-p value of the sum under sign flips, and whether they were listed or drawn."""
    if not sums.size:
        return 1.0, "mid-p"
    observed = abs(float(sums.sum()))
    if sums.size <= ENUMERATED:
        signs = 1 - 2 * ((np.arange(2**sums.size)[:, None] >> np.arange(sums.size)) & 1)
        beyond, equal = _extreme(np.abs(signs @ sums), observed)
        return (beyond + equal / 2) / len(signs), "all sign flips, mid-p"
    if sums.size > MANY:
        return 2 * NormalDist().cdf(-observed / math.sqrt(float(sums @ sums))), "normal limit"
    rng = np.random.default_rng(check_seed(seed))
    beyond = equal = 0
    at_once = max(1, CELLS_AT_ONCE // sums.size)
    for start in range(0, flips, at_once):
        signs = rng.integers(0, 2, size=(min(at_once, flips - start), sums.size), dtype=np.int8)
        more, same = _extreme(np.abs((1.0 - 2.0 * signs) @ sums), observed)
        beyond, equal = beyond + more, equal + same
    return (beyond + (equal + 1) / 2) / (flips + 1), "mid-p"


def _extreme(totals: FloatArray, observed: float) -> tuple[int, int]:
    """Return how many sums are more extreme than the observed one, and how many as extreme."""
    more = int((totals > observed + _SAME).sum())
    return more, int((totals >= observed - _SAME).sum()) - more
