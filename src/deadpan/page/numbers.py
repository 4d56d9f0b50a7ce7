"""Numbers as text, with no more digits than their confidence interval supports."""

from __future__ import annotations

import math
from collections.abc import Iterable

from deadpan.stats import Interval

MOST_DIGITS = 3
DIGITS_WITHOUT_INTERVAL = 3


def digits(intervals: Iterable[Interval]) -> int:
    """Return the decimals of the scores in one column: what the narrowest interval supports, at most three.

    An interval from 0.69 to 0.73 supports two: the third would be noise. The whole column has the same
    number of decimals, so that values can be compared.
    """
    ends = [(i.low, i.high) for i in intervals if i.low is not None and i.high is not None]
    # An interval without width (a constant answer) says nothing about how precise the others are.
    wide = [_allowed(low, high) for low, high in ends if high > low]
    return max(wide, default=MOST_DIGITS if ends else DIGITS_WITHOUT_INTERVAL)


def _allowed(low: float, high: float) -> int:
    half = (high - low) / 2
    least = 1 if half <= 1 else 0  # a share of 0.5 is never shown as 0, whatever its interval
    return min(max(-math.floor(math.log10(half)), least), MOST_DIGITS)


def score(interval: Interval, decimals: int | None = None) -> str:
    """Return a score with its interval, 0.71 [0.69, 0.73]; or the reason why it is undefined."""
    places = digits([interval]) if decimals is None else decimals
    if interval.value is None:
        return f"undefined ({interval.why})" if interval.why else "undefined"
    if interval.low is None or interval.high is None:
        return f"{interval.value:z.{places}f}"
    return f"{interval.value:z.{places}f} {bounds(interval, places)}"


def bounds(interval: Interval, decimals: int) -> str:
    """Return the interval alone, [0.69, 0.73]; empty if there is none."""
    if interval.low is None or interval.high is None:
        return ""
    return f"[{interval.low:z.{decimals}f}, {interval.high:z.{decimals}f}]"


class PValue(float):
    """A p value: shown with three decimals, and as < 0.001 below that, never as 0."""

    def __str__(self) -> str:
        return number(self)

    def equation(self) -> str:
        """Return it for a sentence: p = 0.043, or p < 0.001."""
        return f"p {self}" if self < 0.001 else f"p = {self}"


def number(value: float) -> str:
    """Return a number as text: 12,345 or 0.712 or 31.5; a p value that is smaller as < 0.001."""
    if isinstance(value, PValue):
        return "< 0.001" if value < 0.001 else f"{float(value):.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "undefined"
    size = abs(value)
    decimals = DIGITS_WITHOUT_INTERVAL if size < 10 else 1 if size < 1000 else 0
    return f"{value:z,.{decimals}f}"
