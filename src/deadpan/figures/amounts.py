"""Bar charts of amounts, and distributions of a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from deadpan.figures.figure import (
    LABELS,
    Figure,
    check_not_empty,
    clean,
    hues,
    name_rows,
    thousands,
    whole,
    word_of,
)
from deadpan.page.numbers import digits, number, score
from deadpan.page.table import Table
from deadpan.palette import LIGHT
from deadpan.stats import Interval


def bars(title: str, values: Mapping[str, float | Interval], *, unit: str) -> Figure:
    """Draw one bar per name, from zero, with its number at the end; an Interval gets a whisker."""
    check_not_empty(values, title)
    if whole(values.values()):
        values = {name: int(value) for name, value in values.items() if not isinstance(value, Interval)}
    names = list(values)
    intervals = [value for value in values.values() if isinstance(value, Interval)]
    decimals = digits(intervals)
    lengths = [(value.value or 0.0) if isinstance(value, Interval) else value for value in values.values()]

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        plain = "rule" if intervals else "muted"  # a whisker has to be seen on its bar
        colours = [LIGHT[name if name in LABELS else plain] for name in names]
        axes.barh(range(len(names)), lengths, height=0.62, color=colours)
        for place, (value, length) in enumerate(zip(values.values(), lengths, strict=True)):
            ends = {"xytext": (4 if length >= 0 else -4, 0), "textcoords": "offset points"}
            side = "left" if length >= 0 else "right"
            text, end = number(length), length
            if isinstance(value, Interval):
                text = score(value, decimals)
                end = _whisker(axes, place, value)
            axes.annotate(text, (end, place), ha=side, va="center", **ends)
        name_rows(axes, names)
        axes.margins(x=0.45 if intervals else 0.15)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=not intervals and whole(lengths)))
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")

    return Figure(title, Table(("", unit), tuple(values.items())), 0.75 + 0.3 * len(names), paint)


def _whisker(axes: Any, place: int, value: Interval) -> float:
    """Draw an interval over its bar, and return where its label begins: beyond both."""
    length = value.value or 0.0
    if value.low is None or value.high is None:
        return length
    axes.plot([value.low, value.high], [place, place], color=LIGHT["ink"], linewidth=1.4)
    return max(value.high, length) if length >= 0 else min(value.low, length)


def distribution(
    title: str,
    values: Mapping[str, Sequence[float]],
    *,
    unit: str,
    bins: int = 24,
    sizes: Mapping[str, int] | None = None,
) -> Figure:
    """Draw the distribution of a measure per label, as shares, so that sizes can differ.

    `sizes` are the numbers of examples that the values are a sample of.
    """
    check_not_empty(values and all(len(group) for group in values.values()), title)
    import numpy as np

    numbers = [value for group in values.values() for value in group]
    edges = _edges(numbers, bins)
    counts = {name: np.histogram(group, edges)[0] for name, group in values.items()}
    shares = [100 * heights / heights.sum() for heights in counts.values()]
    known = sizes or {name: len(group) for name, group in values.items()}
    words = [f"{word_of(name)}, n = {known[name]:,}" for name in values]

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        for share, hue in zip(shares, hues(list(values)), strict=True):
            axes.stairs(share, edges, color=hue[0], linewidth=1.8)
            axes.stairs(share, edges, color=hue[0], fill=True, alpha=0.12)
        places = _label_places(shares)
        for text, hue, (at, height) in zip(words, hues(list(values)), places, strict=True):
            x = edges[0] + at * (edges[-1] - edges[0])
            axes.text(x, height, text, ha="center", va="bottom", color=hue[1], fontweight="bold")
        axes.set_ylim(0, max(height for _, height in places) * 1.1)
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=whole(numbers)))
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")
        axes.set_ylabel("% of examples with the label")
        axes.grid(axis="y")

    rows = [
        (float(low), float(high), *(int(heights[i]) for heights in counts.values()))
        for i, (low, high) in enumerate(pairwise(edges))
    ]
    return Figure(title, Table((f"{unit}, from", "to", *values), tuple(rows)), 3.0, paint)


def _edges(numbers: Sequence[float], bins: int) -> Any:
    """Return bin edges for all groups; one bin per whole number if there are few of them."""
    import numpy as np

    low, high = min(numbers), max(numbers)
    if whole(numbers) and high - low < 2 * bins:
        return np.arange(low, high + 2) - 0.5

    return np.linspace(low, high if high > low else low + 1, bins + 1)


LABEL_WIDTH, LABEL_HEIGHT = 0.36, 0.09
"""Approximate size of a label as a share of the axes."""


def _label_places(shares: Sequence[Any]) -> list[tuple[float, float]]:
    """Return the position of each curve's label: a share of the width, and a height in data units.

    A label is placed where its curve rises most above the others, above everything drawn there.
    """
    import numpy as np

    envelope = np.max(shares, axis=0)
    middles = (np.arange(len(envelope)) + 0.5) / len(envelope)
    places: list[tuple[float, float]] = []
    for index, share in enumerate(shares):
        others = [other for i, other in enumerate(shares) if i != index]
        rise = share - (np.max(others, axis=0) if others else 0)
        at = min(max(float(middles[np.argmax(rise)]), LABEL_WIDTH / 2), 1 - LABEL_WIDTH / 2)
        below = np.abs(middles - at) <= LABEL_WIDTH / 2 + 0.5 / len(envelope)
        height = float(envelope[below].max(initial=0)) + 0.02 * float(envelope.max())
        for other_at, other_height in places:
            near = abs(other_height - height) < LABEL_HEIGHT * float(envelope.max())
            if near and abs(other_at - at) < LABEL_WIDTH:
                height = other_height + LABEL_HEIGHT * float(envelope.max())
        places.append((at, height))

    return places
