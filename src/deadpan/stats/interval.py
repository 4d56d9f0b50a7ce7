"""A figure with its interval, or the reason there is none."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from deadpan.errors import ConfigError, DataError

LEVEL = 0.95
"""The level of every interval unless asked otherwise."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value, its interval and how many things it is about.

    What is undefined is None, never NaN, and `why` says why. `why` can also stand beside a value, to say
    that it is a convention (precision 0 where nothing was predicted) or that the interval is too narrow.
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
        if self.value is None:
            return f"undefined ({self.why})"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def as_dict(self) -> dict[str, float | int | str | None]:
        """For a manifest or --json."""
        return asdict(self)


def undefined(why: str, n: int = 0, level: float = LEVEL) -> Interval:
    """No value, and the reason."""
    return Interval(None, None, None, level, n, why)


def check_level(level: float) -> float:
    """The level itself if it can be one."""
    if not 0 < level < 1:
        raise ConfigError(f"the level of an interval lies between 0 and 1, such as 0.95: got {level}")
    return level


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """A proportion of independent trials with Wilson's score interval, which holds at 0, at 1 and for few."""
    check_level(level)
    if not 0 <= successes <= n:
        raise DataError(f"a proportion needs 0 <= successes <= n: got {successes} of {n}")
    if n == 0:
        return undefined("nothing was counted", 0, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the bound is exact; rounding must not push it past the value.
    low = 0.0 if successes == 0 else min(middle - half, share)
    high = 1.0 if successes == n else max(middle + half, share)
    return Interval(share, low, high, level, n)


def percentile_interval(
    value: float, replicates: FloatArray, n: int, level: float = LEVEL, why: str = ""
) -> Interval:
    """The percentile interval of a bootstrap. NaN among the replicates are undefined ones and left out.

    It is widened where needed so that it holds the value itself: with few clusters the percentiles of a
    skewed score can lie to one side of it.
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
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    if kept.min() == kept.max():
        remarks.append("every resample gives the same value: the true interval is wider")
    return Interval(value, min(float(low), value), max(float(high), value), level, n, "; ".join(remarks))
