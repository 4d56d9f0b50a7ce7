"""Heat maps of a matrix of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from deadpan.errors import DataError
from deadpan.figures.figure import WIDTH, Figure, check_not_empty, clean
from deadpan.page.numbers import MOST_DIGITS, number
from deadpan.page.table import Table
from deadpan.palette import LIGHT

# Not the palette's white and ink, which a dark page inverts: the colour of a cell does not change.
ON_DARK_CELL, ON_LIGHT_CELL = "#fefefe", "#1c1f25"
LETTER = 0.085  # inches, about
SLANTED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
CELLS = ("#f1f5f3", "#8fc7b3", "#00503a")
"""Shades of one hue from the lowest to the highest value."""
AROUND = ("#7a2f57", "#cf9fba", "#f4f4f4", "#8fc7b3", "#00503a")
"""Shades of two hues around a centre: purple below, green above, light at the centre itself."""
LARGEST, SMALLEST = 10.0, 6.5
"""Sizes of the numbers in the cells, in points."""


def heat(
    title: str,
    matrix: Sequence[Sequence[float | None]],
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    unit: str,
    limits: tuple[float, float] | None = None,
    decimals: int = MOST_DIGITS,
    centre: float | Sequence[float] | None = None,
) -> Figure:
    """Draw a matrix with its numbers in the cells. `rows` and `columns` are an axis label and the names.

    With a `centre`, such as the score of chance, the colours run from it in two hues, equally far both ways;
    a list has one centre per column, such as the score of a constant answer on each corpus.
    """
    check_not_empty(matrix and matrix[0], title)
    if len(matrix) != len(rows[1]) or any(len(row) != len(columns[1]) for row in matrix):
        raise DataError(f"the matrix of {title!r} is not {len(rows[1])} rows by {len(columns[1])} columns")
    present = [value for row in matrix for value in row if value is not None]
    low, high = limits or (min(present, default=0.0), max(present, default=1.0))
    middles = [0.0] * len(columns[1])
    if centre is not None:
        middles = [float(centre)] * len(middles) if isinstance(centre, int | float) else list(centre)
        if len(middles) != len(columns[1]):
            raise DataError(f"the matrix of {title!r} needs one centre per column: got {len(middles)}")
        away = [abs(v - c) for row in matrix for v, c in zip(row, middles, strict=True) if v is not None]
        away += [abs(end - c) for end in limits or () for c in middles]
        reach = max(away, default=1.0) or 1.0
        low, high = -reach, reach
    longest = LETTER * max(map(len, columns[1]))
    slanted = longest > (WIDTH - LETTER * max(map(len, rows[1]))) / len(columns[1])

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        shades = CELLS if centre is None else AROUND
        room = 72 * (WIDTH - LETTER * max(map(len, rows[1]))) / len(columns[1])
        limits = (low, high if high > low else low + 1)
        _cells(axes, matrix, middles, limits, decimals, shades, room)
        axes.set_xticks(
            [i + 0.5 for i in range(len(columns[1]))],
            [clean(name) for name in columns[1]],
            color=LIGHT["ink"],
            **(SLANTED if slanted else {}),
        )
        axes.set_yticks(
            [i + 0.5 for i in range(len(matrix))], [clean(name) for name in rows[1]], color=LIGHT["ink"]
        )
        around = "" if centre is None else "; light: a constant answer"
        if isinstance(centre, int | float):
            around = f"; light: {number(centre)}, chance"
        axes.set_xlabel(f"{clean(columns[0])} (cells: {clean(unit)}{around})", loc="left")
        axes.set_ylabel(clean(rows[0]))
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)

    cells = tuple((name, *row) for name, row in zip(rows[1], matrix, strict=True))
    height = 0.9 + 0.42 * len(matrix) + (0.7 * longest if slanted else 0)
    return Figure(title, Table((f"{rows[0]} \\ {columns[0]}", *columns[1]), cells), height, paint)


def _cells(
    axes: Any, matrix: Sequence[Sequence[float | None]], middles: Sequence[float],
    limits: tuple[float, float], decimals: int, hues: Sequence[str], room: float,
) -> None:  # fmt: skip
    """Colour the cells by their distance from the middle of their column, and write their numbers.

    They are small enough for a cell that is `room` points wide.
    """
    from matplotlib.colors import LinearSegmentedColormap

    low, high = limits
    shades = LinearSegmentedColormap.from_list("deadpan", hues)
    texts = [[_number(value, decimals) for value in row] for row in matrix]
    longest = max(len(text) for row in texts for text in row)
    size = min(LARGEST, max(SMALLEST, room / (0.68 * longest)))
    plain = [
        [math.nan if value is None else value - middle for value, middle in zip(row, middles, strict=True)]
        for row in matrix
    ]
    axes.pcolormesh(plain, cmap=shades, vmin=low, vmax=high, edgecolors=LIGHT["ground"], linewidth=1.5)
    for y, row in enumerate(matrix):
        for x, value in enumerate(row):
            shade = shades((plain[y][x] - low) / (high - low))
            ink = LIGHT["muted"] if value is None else _ink_on(shade)
            axes.text(x + 0.5, y + 0.5, texts[y][x], ha="center", va="center", color=ink, fontsize=size)


def _number(value: float | None, decimals: int) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:z,.{decimals}f}"


def _ink_on(shade: tuple[float, ...]) -> str:
    """Return dark or light text, whichever has more contrast with the cell (WCAG's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return ON_DARK_CELL if luminance < 0.18 else ON_LIGHT_CELL
