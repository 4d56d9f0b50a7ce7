"""A value with its confidence interval, or the reason there is none."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_whole
from deadpan.errors import ConfigError, DataError
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

LEVEL = 0.95
"""The default confidence level."""

ONE_CLUSTER = "one cluster only: no interval"

SAME = 1e-12
"""Sums of the same numbers in another order differ by less."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Interval(Result):
    """A value, its confidence interval from `low` to `high`, and the number `n` of things it is about.

    An undefined value is None, never NaN, and `why` gives the reason. `why` can also qualify a value: it
    is a convention (precision is 0 where nothing was predicted), or its interval is too narrow.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    why: str = ""

    def __post_init__(self) -> None:
        for figure in (self.value, self.low, self.high):
            if figure is not None and math.isnan(figure):
                raise ValueError("an undefined figure is None with a reason, never NaN")

    def __str__(self) -> str:
        from deadpan.page.numbers import score

        return score(self)

    def as_dict(self) -> dict[str, object]:
        """Return the fields, for a manifest or `--json`."""
        return asdict(self)

    def summary(self) -> Summary:
        """Return a table of one row."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        return Summary((Table((f"value, {interval_name(self.level)}", "n"), ((self, self.n),)),))


def interval_name(level: float = LEVEL) -> str:
    """Return the name of an interval: "95 % confidence interval"."""
    return f"{100 * level:g} % confidence interval"


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
    value: float,
    clusters: int,
    n: int,
    level: float = LEVEL,
    limits: tuple[float, float] | None = None,
    why: str = "",
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
