"""Numbers as people read them: no more digits than the interval allows."""

from __future__ import annotations

import math
from collections.abc import Iterable

from deadpan.stats import Interval

MOST_DIGITS = 3
DIGITS_WITHOUT_INTERVAL = 3


def digits(intervals: Iterable[Interval]) -> int:
    """Decimals for scores that stand in one column: what the narrowest interval allows, three at most.

    An interval from 0.69 to 0.73 allows two: the third would be noise. One number for the column, since
    figures that line up are compared with one look.
    """
    allowed = [_allowed(i.low, i.high) for i in intervals if i.low is not None and i.high is not None]
    return max(allowed, default=DIGITS_WITHOUT_INTERVAL)


def _allowed(low: float, high: float) -> int:
    half = (high - low) / 2
    if half <= 0:
        return MOST_DIGITS
    return min(max(-math.floor(math.log10(half)), 0), MOST_DIGITS)


def score(interval: Interval, decimals: int | None = None) -> str:
    """A score with its interval: 0.71 [0.69, 0.73]; or why there is none."""
    places = digits([interval]) if decimals is None else decimals
    if interval.value is None:
        return f"undefined ({interval.why})" if interval.why else "undefined"
    if interval.low is None or interval.high is None:
        return f"{interval.value:z.{places}f}"
    return f"{interval.value:z.{places}f} {bounds(interval, places)}"


def bounds(interval: Interval, decimals: int) -> str:
    """The interval alone, [0.69, 0.73]; empty where there is none."""
    if interval.low is None or interval.high is None:
        return ""
    return f"[{interval.low:z.{decimals}f}, {interval.high:z.{decimals}f}]"


def number(value: float) -> str:
    """A bare number: 12,345 or 0.712 or 31.5."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "undefined"
    size = abs(value)
    decimals = DIGITS_WITHOUT_INTERVAL if size < 10 else 1 if size < 1000 else 0
    return f"{value:z,.{decimals}f}"
