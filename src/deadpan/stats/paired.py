"""Is one system better than another on the same items? One test, its interval, and its power.

Items of one cluster (a thread, an author, the paraphrases of one question) are not independent, so the
standard error is that of the jackknife which leaves out one cluster at a time, and the test is a t test over
clusters. The jackknife needs no formula per score, so the same lines serve a mean, F1 and pair accuracy.
Nothing in it is random, and the interval is the inversion of the test.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, overload

import numpy as np

from deadpan.arguments import check_list
from deadpan.errors import ConfigError, DataError
from deadpan.results import Result
from deadpan.stats.interval import (
    LEVEL,
    ONE_CLUSTER,
    SAME,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    cluster_sums,
    interval_name,
    undefined,
    unvaried_interval,
)
from deadpan.stats.scores import is_loss, with_direction

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

MIN_CLUSTERS = 10
"""Fewer clusters settle nothing: the t test holds for them only if their differences are near normal."""

MIN_DIFFERING = 6
"""Clusters that must differ: five could all favour one system by chance, with a two-sided p of 2 / 2**5."""

POWER = 0.8
"""The power by which a detectable difference and a number of items are stated."""

POINTS = (0.02, 0.05, 0.10)
"""Differences whose power is reported: 2, 5 and 10 points of a score from 0 to 1."""

METHOD = "t test over clusters with the standard error of the jackknife"


@dataclass(frozen=True, slots=True, repr=False)
class PairedDifference(Result):
    """Two systems on the same items: the first's score minus the second's, and what the data can tell.

    `p_holm` is adjusted for all pairs of one call; the interval is that of this pair alone. `n_differing`
    counts the clusters on which the systems are not alike. `detectable` is the difference that these items
    would detect with 80 % power, `power` the power to detect 2, 5 and 10 points, `needed` the number of items
    that would settle a difference of the size found; all None where there is no standard error.
    """

    first: str
    second: str
    metric: str
    value_first: float | None
    value_second: float | None
    difference: Interval
    p: float | None
    p_holm: float | None
    n_clusters: int
    n_differing: int
    standard_error: float | None = None
    detectable: float | None = None
    power: Mapping[float, float] | None = None
    needed: int | None = None

    def __repr__(self) -> str:
        return f"PairedDifference({self.first} - {self.second}: {self.difference}, {self.verdict})"

    @property
    def few_clusters(self) -> str:
        """The reason that nothing can be significant; empty if there are enough clusters, or none differs."""
        return few_clusters_warning(self.n_clusters, self.n_differing, self.n_clusters == self.difference.n)

    @property
    def significant(self) -> bool:
        """True if the Holm-adjusted p value is below 1 - level, and clusters are enough."""
        return self.p_holm is not None and not self.few_clusters and self.p_holm < 1 - self.difference.level

    @property
    def better(self) -> str:
        """The name of the significantly better system; empty if there is none."""
        if not self.significant:
            return ""
        return self.first if ((self.difference.value or 0.0) > 0) != is_loss(self.metric) else self.second

    @property
    def verdict(self) -> str:
        """One phrase: which system is better, or why that is not settled."""
        value = self.difference.value
        if value is None:
            return f"undefined ({self.difference.why})"
        if self.significant:
            return f"{self.better} is better"
        if self.few_clusters:
            return f"not settled ({self.few_clusters})"
        if self.p is None or self.p_holm is None:
            return f"not settled ({self.difference.why})"
        if self.p < 1 - self.difference.level:
            return "not settled after Holm's correction"
        if not value:
            return "no difference found"
        return f"not settled; about {self.needed:,} items would settle it" if self.needed else "not settled"

    def as_dict(self) -> dict[str, object]:
        plain = asdict(self)
        plain["power"] = {f"{points:g}": power for points, power in (self.power or {}).items()}
        return plain | {"significant": self.significant, "verdict": self.verdict}

    def summary(self) -> Summary:
        return Comparisons((self,)).summary()


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Result, Sequence[PairedDifference]):
    """Pairs of systems compared by one score, with p values adjusted for all of them."""

    pairs: tuple[PairedDifference, ...]

    @classmethod
    def adjusted(cls, pairs: Iterable[PairedDifference]) -> Comparisons:
        """Return the pairs with their p values adjusted by Holm's method; undefined ones do not count."""
        found = list(pairs)
        defined = [at for at, pair in enumerate(found) if pair.p is not None]
        for at, p in zip(defined, holm([found[at].p or 0.0 for at in defined]), strict=True):
            found[at] = replace(found[at], p_holm=p)
        return cls(tuple(found))

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> PairedDifference: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PairedDifference, ...]: ...
    def __getitem__(self, index: int | slice) -> PairedDifference | tuple[PairedDifference, ...]:
        return self.pairs[index]

    def __repr__(self) -> str:
        significant = sum(pair.significant for pair in self.pairs)
        return f"Comparisons({len(self.pairs)} pairs, {significant} significantly different)"

    def as_dict(self) -> dict[str, object]:
        return {"comparisons": [pair.as_dict() for pair in self.pairs]}

    def summary(self) -> Summary:
        from deadpan.page.numbers import PValue
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(
            (
                f"{pair.first} - {pair.second}",
                pair.difference,
                None if pair.p_holm is None else PValue(pair.p_holm),
                pair.verdict,
            )
            for pair in self.pairs
        )
        metric = self.pairs[0].metric if self.pairs else "score"
        columns = ("systems", f"difference of {with_direction(metric)}", "p", "result")
        return Summary((Table(columns, rows),), (self.method(),))

    def method(self) -> str:
        """Return how the pairs were tested, in one or two sentences."""
        said = f"p: {METHOD}"
        kind = interval_name(self.pairs[0].difference.level if self.pairs else LEVEL, "t")
        if any(pair.standard_error is None and pair.difference.low is not None for pair in self.pairs):
            kind += " (Wilson where no cluster differs from the others)"
        if len(self.pairs) > 1:
            return (
                f"{said}, adjusted by Holm's method over {len(self.pairs)} pairs. In brackets: the "
                f"{kind} of each difference, not adjusted."
            )
        return f"{said}. In brackets: the {kind} of the difference."


def few_clusters_warning(clusters: int, differing: int, items: bool = False) -> str:
    """Return that clusters, or items, are too few, or that the systems differ on too few; empty if enough."""
    noun = "item" if items else "cluster"
    if not differing:
        return ""
    if clusters < MIN_CLUSTERS:
        return f"1 {noun} is too few" if clusters == 1 else f"{clusters} {noun}s are too few"
    if differing < MIN_DIFFERING:
        return f"they differ on {differing} {noun}{'s' * (differing > 1)} only"
    return ""


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for multiple comparisons by Holm's method."""
    p_values = check_list(p_values, "p_values")
    for p in p_values:
        if not isinstance(p, int | float) or not 0 <= p <= 1:
            raise DataError(f"a p value is a number from 0 to 1: got {p!r}")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = running
    return adjusted


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """Return the mean of scores whose sum is in the first column, their number in the second."""
    mean: FloatArray = sums[..., 0] / sums[..., 1]
    return mean


def paired_difference(
    first: FloatArray,
    second: FloatArray,
    clusters: IntArray | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
    metric: str = "score",
    level: float = LEVEL,
    of: Callable[[FloatArray], FloatArray] | None = None,
    n: int | None = None,
) -> PairedDifference:
    """Compare two systems by their scores on the same items, or by a score of column sums.

    `first` and `second` have one score per item, or one row of columns per item with `of`, which maps sums
    of columns (... x columns) to a score from 0 to 1. `clusters` are codes as of `cluster_codes`, by default
    one per item; `n` counts what the score is about where that is not the items.

    >>> import numpy as np
    >>> right = np.array([1.0] * 30 + [0.0] * 10)
    >>> wrong = np.array([1.0] * 15 + [0.0] * 25)
    >>> paired_difference(right, wrong, names=("ours", "theirs")).verdict
    'ours is better'
    """
    check_level(level)
    sheets, limits = _check_scores(first, second, of)
    rows = len(sheets[0])
    codes = np.arange(rows) if clusters is None else clusters
    if len(codes) != rows:
        raise DataError(f"a paired comparison needs one cluster per item: got {len(codes)} for {rows} items")
    n, of = rows if n is None else n, of or mean_of_sums
    if not rows:
        none = undefined("no common items", 0, level)
        return PairedDifference(*names, metric, None, None, none, None, None, 0, 0)
    one, other = (cluster_sums(sheet, codes) for sheet in sheets)
    sizes = np.bincount(codes)
    counted = one.any(axis=1) | other.any(axis=1)  # a cluster without a pair says nothing about pair accuracy
    one, other, sizes = one[counted], other[counted], sizes[counted]
    k, differing = len(one), int((np.abs(one - other) > SAME).any(axis=1).sum())
    value_first, value_second = (float(of(sums.sum(axis=0))) for sums in (one, other))
    value = value_first - value_second
    nothing = undefined("undefined on these data", n, level)
    if math.isnan(value):
        return PairedDifference(*names, metric, None, None, nothing, None, None, k, differing)
    found = PairedDifference(*names, metric, value_first, value_second, nothing, None, None, k, differing)
    if k < 2:
        return replace(found, difference=Interval(value, None, None, level, n, ONE_CLUSTER))
    error = _jackknife_error(one, other, of, value)
    if math.isnan(error):
        why = "undefined without one of the clusters"
        return replace(found, difference=Interval(value, None, None, level, n, why))
    if error < SAME:
        difference = unvaried_interval(value, k, n, level, limits if limits[1] else None)
        # At this p value the interval above would end at 0: sqrt(k) standard errors if one system is always
        # right and the other never, as in McNemar's test.
        p = math.erfc(math.sqrt(k * abs(value) / (2 * limits[1]))) if value else 1.0
        return replace(found, difference=difference, p=p, p_holm=p)
    return _with_test(found, value, error, _degrees(sizes), limits)


def _check_scores(
    first: FloatArray, second: FloatArray, of: Callable[[FloatArray], FloatArray] | None
) -> tuple[list[FloatArray], tuple[float, float]]:
    """Return both systems' columns, and the limits between which their difference can lie."""
    sheets = [np.asarray(each, np.float64) for each in (first, second)]
    if sheets[0].shape != sheets[1].shape:
        raise DataError(
            f"a paired comparison needs one score of each system per item: got {len(sheets[0])} and {len(sheets[1])}"
        )
    if not all(np.isfinite(sheet).all() for sheet in sheets):
        raise DataError("a paired comparison needs a number per item: remove items without a score")
    if of is not None:
        return sheets, (-1.0, 1.0)
    ends = [end for sheet in sheets if sheet.size for end in (float(sheet.min()), float(sheet.max()))]
    # Scores on another scale can differ by as much as the scale that was seen.
    width = 1.0 if all(map(all_in_unit_interval, sheets)) or not ends else max(ends) - min(ends)
    return [np.stack([sheet, np.ones(len(sheet))], axis=1) for sheet in sheets], (-width, width)


def all_in_unit_interval(scores: FloatArray) -> bool:
    """Return whether all scores lie between 0 and 1, as those of right and wrong do."""
    return bool(len(scores)) and float(np.min(scores)) >= 0.0 and float(np.max(scores)) <= 1.0


def _jackknife_error(
    first: FloatArray, second: FloatArray, of: Callable[[FloatArray], FloatArray], value: float
) -> float:
    """Return the standard error from leaving out one cluster at a time; NaN where that is undefined.

    For a mean over items it is the standard error of every textbook. Over clusters of different sizes it is
    larger, and more often right, than the sandwich estimator (MacKinnon, Nielsen and Webb 2023).
    """
    without = of(first.sum(axis=0) - first) - of(second.sum(axis=0) - second)
    k = len(without)
    return math.sqrt((k - 1) / k * float(((without - value) ** 2).sum()))


def _degrees(sizes: IntArray) -> float:
    """Return the degrees of freedom: one less than the clusters, or fewer if some hold most of the items.

    The effective number of clusters is Kish's, (sum of sizes)**2 / sum of squared sizes: with ten clusters of
    1 to 64 items and all nine degrees of freedom, one null difference in ten would be significant.
    """
    weights = sizes.astype(np.float64)
    return max(float(weights.sum() ** 2 / (weights @ weights)) - 1, 1.0)


def _with_test(
    found: PairedDifference, value: float, error: float, degrees: float, limits: tuple[float, float]
) -> PairedDifference:
    """Add the interval, the p value and the power of a t test."""
    level, n = found.difference.level, found.difference.n
    p = min(1.0, max(2 * t_share(-abs(value) / error, degrees), sys.float_info.min))
    half = t_quantile((1 + level) / 2, degrees) * error
    # A difference of two shares is at most 1; an interval of F1 may be clipped too, but never past its value.
    low, high = max(value - half, limits[0]), min(value + half, limits[1])
    return replace(
        found,
        difference=Interval(value, low, high, level, n),
        p=p,
        p_holm=p,
        standard_error=error,
        detectable=minimum_detectable_difference(error, level, degrees=degrees),
        power={points: power_to_detect(points, error, level, degrees) for points in POINTS},
        needed=items_needed(value, error, n, level, degrees=degrees),
    )


def minimum_detectable_difference(
    standard_error: float, level: float = LEVEL, power: float = POWER, degrees: float = math.inf
) -> float:
    """Return the difference that is found significant with this power."""
    _check_power(standard_error, power)
    return (t_quantile((1 + check_level(level)) / 2, degrees) + t_quantile(power, degrees)) * standard_error


def power_to_detect(difference: float, standard_error: float, level: float = LEVEL, degrees: float = math.inf) -> float:
    """Return the probability that a true difference of this size is found significant."""
    _check_power(standard_error, POWER)
    if standard_error == 0:
        return 1.0 if difference else 1 - level
    t, effect = t_quantile((1 + check_level(level)) / 2, degrees), abs(difference) / standard_error
    return t_share(effect - t, degrees) + t_share(-effect - t, degrees)


def items_needed(
    difference: float, standard_error: float, n: int, level: float = LEVEL, power: float = POWER,
    degrees: float = math.inf,
) -> int | None:  # fmt: skip
    """Return how many items like the `n` observed detect this difference; None for a difference of 0."""
    if not difference:
        return None
    detectable = minimum_detectable_difference(standard_error, level, power, degrees)
    return math.ceil(n * (detectable / abs(difference)) ** 2)


def _check_power(standard_error: float, power: float) -> None:
    if not standard_error >= 0:
        raise ConfigError(f"a standard error is a number of at least 0: got {standard_error!r}")
    if not 0 < power < 1:
        raise ConfigError(f"power is between 0 and 1, such as 0.8: got {power!r}")


def t_quantile(share: float, degrees: float = math.inf) -> float:
    """Return the quantile of the t distribution, of the normal one without degrees of freedom."""
    normal = NormalDist().inv_cdf(share)
    if math.isinf(degrees) or share == 0.5:
        return normal
    tail = min(share, 1 - share)
    # The tail is convex and heavier than the normal one: from there Newton's steps never go too far.
    t, step = abs(normal), 1.0
    while step > 1e-14 * t:
        step = (t_share(-t, degrees) - tail) / _t_density(t, degrees)
        t += step
    return math.copysign(t, share - 0.5)


def t_share(t: float, degrees: float) -> float:
    """Return the share of the t distribution below `t`, of the normal one if the degrees are infinite.

    In place of scipy's, which is twice as large as all that a comparison of two systems needs.
    """
    if math.isinf(degrees):
        return NormalDist().cdf(t)
    tail = 0.5 * _incomplete_beta(degrees / (degrees + t * t), t * t / (degrees + t * t), degrees / 2, 0.5)
    return tail if t < 0 else 1 - tail


def _t_density(t: float, degrees: float) -> float:
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi * degrees) / 2
    return math.exp(scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function; `rest` is 1 - x, given since x may be near 1.

    The continued fraction of the NIST handbook (8.17.22) by Lentz's method.
    """
    if x == 0 or rest == 0:
        return float(rest == 0)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast below the mean only
        return 1 - _incomplete_beta(rest, x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    upper, lower = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    total, m, change = lower, 1, 0.0
    while abs(change - 1) > 1e-14:
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower, upper = 1 / (1 + term * lower), 1 + term / upper
            change = lower * upper
            total *= change
        m += 1
    return math.exp(front) * total / a


def mean_over_clusters(scores: FloatArray, clusters: IntArray, level: float = LEVEL) -> Interval:
    """Return the mean of scores with an interval over clusters: Wilson's for scores from 0 to 1.

    Wilson's has as many trials as independent ones would need for the same standard error, and the t quantile
    of the number of clusters. Near 0 and 1 a percentile interval leaves the true mean out twice as often.
    """
    n, unit = len(scores), all_in_unit_interval(scores)
    if n == 0:
        return undefined("no common items", 0, level)
    sums = cluster_sums(np.stack([scores, np.ones(n)], axis=1), clusters)
    k, mean = len(sums), float(scores.mean())
    if k < 2:
        return Interval(mean, None, None, level, n, ONE_CLUSTER)
    error = _jackknife_error(sums, sums * [0, 1], mean_of_sums, mean)
    if error < SAME:
        return unvaried_interval(mean, k, n, level, (0.0, 1.0) if unit else None)
    t = t_quantile((1 + level) / 2, _degrees(np.bincount(clusters)))
    if not unit:
        return Interval(mean, mean - t * error, mean + t * error, level, n)
    spread = t**2 * error**2 / (mean * (1 - mean))
    middle = (mean + spread / 2) / (1 + spread)
    half = math.sqrt(spread * mean * (1 - mean) + spread * spread / 4) / (1 + spread)
    return Interval(mean, min(middle - half, mean), max(middle + half, mean), level, n)
