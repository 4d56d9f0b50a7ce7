"""Numbers as text, by one rule for every page, figure and terminal.

A score or coefficient has three decimals, two where its confidence interval is wide; a p value is never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deadpan.results import Interval

MOST_DIGITS = 3


def digits(intervals: Iterable[Interval]) -> int:
    """Return the decimals of the scores in one column: one more than the narrowest interval supports.

    That is three up to a half-width of 0.1 and two beyond, fewer only for intervals wider than 1. The whole
    column has the same number of decimals; three if two different scores would look the same with fewer.
    """
    column = list(intervals)
    halves = [(i.high - i.low) / 2 for i in column if i.low is not None and i.high is not None]
    # An interval without width (a constant answer) says nothing about how precise the others are.
    places = max((_allowed(half) for half in halves if half > 0), default=MOST_DIGITS)
    values = {round(i.value, MOST_DIGITS) for i in column if i.value is not None}
    alike = len({round(value, places) for value in values}) < len(values)
    return MOST_DIGITS if alike and max(map(abs, values)) <= 1 else places


def _allowed(half: float) -> int:
    least = 2 if half <= 1 else 0  # 3 of 4 is 0.75, not 0.8, whatever its interval
    return min(max(1 - math.floor(math.log10(half)), least), MOST_DIGITS)


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
    decimals = MOST_DIGITS if size < 10 else 1 if size < 1000 else 0
    return f"{value:z,.{decimals}f}"
