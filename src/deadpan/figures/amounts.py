"""How much of each, and how a measure is spread."""

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
    word_of,
)
from deadpan.page.numbers import number
from deadpan.page.table import Table
from deadpan.palette import LIGHT


def bars(title: str, values: Mapping[str, float], *, unit: str) -> Figure:
    """How much of each: bars from zero, the name to the left and the number at the end of its bar."""
    check_not_empty(values, title)
    names = list(values)

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        colours = [LIGHT[name if name in LABELS else "muted"] for name in names]
        axes.barh(range(len(names)), list(values.values()), height=0.62, color=colours)
        for place, value in enumerate(values.values()):
            ends = {"xytext": (4 if value >= 0 else -4, 0), "textcoords": "offset points"}
            side = "left" if value >= 0 else "right"
            axes.annotate(number(value), (value, place), ha=side, va="center", **ends)
        name_rows(axes, names)
        axes.margins(x=0.15)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")

    return Figure(title, Table(("", unit), tuple(values.items())), 0.75 + 0.3 * len(names), paint)


def distribution(title: str, values: Mapping[str, Sequence[float]], *, unit: str, bins: int = 24) -> Figure:
    """How two labels (or more) lie along a measure, as shares, so that sizes do not matter."""
    check_not_empty(values and all(len(group) for group in values.values()), title)
    import numpy as np

    edges = _edges([each for group in values.values() for each in group], bins)
    counts = {name: np.histogram(group, edges)[0] for name, group in values.items()}
    shares = [100 * each / each.sum() for each in counts.values()]
    words = [f"{word_of(name)}, n = {len(group):,}" for name, group in values.items()]

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        for share, hue in zip(shares, hues(list(values)), strict=True):
            axes.stairs(share, edges, color=hue[0], linewidth=1.8)
            axes.stairs(share, edges, color=hue[0], fill=True, alpha=0.12)
        places = _label_places(shares)
        for text, hue, (at, height) in zip(words, hues(list(values)), places, strict=True):
            x = edges[0] + at * (edges[-1] - edges[0])
            axes.text(x, height, text, ha="center", va="bottom", color=hue[1], fontweight="bold")
        axes.set_ylim(0, max(height for _, height in places) * 1.1)
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")
        axes.set_ylabel("% of the label's examples")
        axes.grid(axis="y")

    rows = [
        (float(low), float(high), *(int(each[i]) for each in counts.values()))
        for i, (low, high) in enumerate(pairwise(edges))
    ]
    return Figure(title, Table((f"{unit}, from", "to", *values), tuple(rows)), 3.0, paint)


def _edges(numbers: Sequence[float], bins: int) -> Any:
    """Bin edges for all groups; one bin a whole number where there are few of them."""
    import numpy as np

    low, high = min(numbers), max(numbers)
    if all(float(each).is_integer() for each in numbers) and high - low < 2 * bins:
        return np.arange(low, high + 2) - 0.5

    return np.linspace(low, high if high > low else low + 1, bins + 1)


LABEL_WIDTH, LABEL_HEIGHT = 0.36, 0.09
"""About how much of the axes a label takes; its own centre stays half of that away from the sides."""


def _label_places(shares: Sequence[Any]) -> list[tuple[float, float]]:
    """Where each curve's label stands, in shares of the width and in the measure of the height.

    It stands where its curve rises most above the others, on top of everything drawn there.
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
