"""Points on two measures, by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.figures.figure import Figure, check_not_empty, clean, hues, word_of
from deadpan.page.table import Table

SHAPES = ("^", "o", "s", "D")
MOST = 2_000
"""Points drawn per group: more would hide each other."""


def points(
    title: str,
    groups: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_unit: str,
    y_unit: str,
    limits: tuple[float, float, float, float] | None = None,
    highest: float | None = None,
) -> Figure:
    """Draw groups of points; `limits` are the ends of both axes. Of many points an even sample is drawn.

    `highest` is the largest value that y can have: room above it is for the names of the groups, without
    ticks.
    """
    check_not_empty(groups and all(groups.values()), title)

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        for place, ((name, pairs), hue) in enumerate(zip(groups.items(), hues(list(groups)), strict=True)):
            shown = pairs[:: max(1, len(pairs) // MOST)]
            axes.plot(*zip(*shown, strict=True), SHAPES[place % len(SHAPES)], color=hue[0], alpha=0.35,
                      markersize=3, markeredgewidth=0)  # fmt: skip
            text = f"{word_of(name)}, n = {len(pairs):,}"
            axes.text(0.01, 0.97 - 0.09 * place, text, transform=axes.transAxes, va="top",
                      color=hue[1], fontweight="bold")  # fmt: skip
        if limits:
            axes.set(xlim=limits[:2], ylim=limits[2:])
        if highest is not None:
            axes.set_yticks([tick for tick in axes.get_yticks() if axes.get_ylim()[0] <= tick <= highest])
        axes.set_xlabel(clean(x_unit), loc="left")
        axes.set_ylabel(clean(y_unit))
        axes.grid()

    rows = [(name, *_middle(pairs), len(pairs)) for name, pairs in groups.items()]
    return Figure(title, Table(("", f"median {x_unit}", f"median {y_unit}", "n"), tuple(rows)), 3.6, paint)


def _middle(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    from statistics import median

    return median(x for x, _ in pairs), median(y for _, y in pairs)
