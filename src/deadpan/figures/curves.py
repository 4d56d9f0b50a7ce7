"""Line plots with the names of the lines at their ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from deadpan.figures.figure import Figure, check_not_empty, clean, hues, thousands, whole, word_of
from deadpan.page.table import Cell, Table
from deadpan.stats import Interval

Point = tuple[float, float | Interval]


def lines(
    title: str, series: Mapping[str, Sequence[Point]], *, x_unit: str, y_unit: str, log: bool = False
) -> Figure:
    """Draw lines, with a band where points have intervals; `log` makes the x axis logarithmic."""
    check_not_empty(series and all(series.values()), title)

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        if log:
            axes.set_xscale("log")
        elif whole(x for points in series.values() for x, _ in points):
            axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if whole(y for points in series.values() for _, y in points):
            axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
        axes.xaxis.set_major_formatter(thousands)
        ends: list[tuple[float, str, str]] = []
        for (name, points), hue, shape in zip(
            series.items(), hues(list(series)), cycle("osD^"), strict=False
        ):
            drawn = [(x, y.value if isinstance(y, Interval) else y) for x, y in points]
            known = [(x, y) for x, y in drawn if y is not None]
            if not known:
                continue
            axes.plot(*zip(*known, strict=True), color=hue[0], linewidth=1.8, marker=shape, markersize=4)
            _band(axes, points, hue[0])
            ends.append((known[-1][1], word_of(name), hue[1]))
        _end_labels(axes, ends)
        axes.set_xlabel(clean(x_unit), loc="left")
        axes.set_ylabel(clean(y_unit))
        axes.grid(axis="y")

    rows: list[tuple[Cell, ...]] = [(name, x, y) for name, points in series.items() for x, y in points]
    return Figure(title, Table(("line", x_unit, y_unit), tuple(rows)), 3.2, paint)


def _band(axes: Any, points: Sequence[Point], colour: str) -> None:
    known = [
        (x, y.low, y.high)
        for x, y in points
        if isinstance(y, Interval) and y.low is not None and y.high is not None
    ]
    if known:
        axes.fill_between(*zip(*known, strict=True), color=colour, alpha=0.15, linewidth=0)


def _end_labels(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the name of each line at its end, shifted where two lines end close together."""
    low, high = axes.get_ylim()
    gap, last = 0.065 * (high - low), -math.inf
    places = [last := max(value, last + gap) for value, _, _ in sorted(ends)]
    # Labels that would go beyond the top move down, and push those below them.
    for at in reversed(range(len(places))):
        places[at] = min(places[at], high if at == len(places) - 1 else places[at + 1] - gap)
    for (_, word, colour), place in zip(sorted(ends), places, strict=True):
        axes.annotate(
            word, (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", color=colour, fontweight="bold",
        )  # fmt: skip
    axes.set_ylim(low, high)
