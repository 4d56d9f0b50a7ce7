"""A matrix of numbers as cells of one hue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from deadpan.errors import DataError
from deadpan.figures.figure import WIDTH, Figure, check_not_empty, clean
from deadpan.page.table import Table
from deadpan.palette import LIGHT

# Not LIGHT's white and ink, which a dark page turns round: these stand on a cell whose colour stays.
ON_DARK_CELL, ON_LIGHT_CELL = "#fefefe", "#1c1f25"
LETTER = 0.085  # inches, about
SLANTED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
CELLS = ("#f1f5f3", "#8fc7b3", "#00503a")
"""From little to much, one hue, evenly darker."""


def heat(
    title: str,
    matrix: Sequence[Sequence[float | None]],
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    unit: str,
    limits: tuple[float, float] | None = None,
    decimals: int = 2,
) -> Figure:
    """A matrix with its numbers in the cells. `rows` and `columns` are what they are and their names."""
    check_not_empty(matrix and matrix[0], title)
    if len(matrix) != len(rows[1]) or any(len(row) != len(columns[1]) for row in matrix):
        raise DataError(f"the matrix of {title!r} is not {len(rows[1])} rows by {len(columns[1])} columns")
    present = [value for row in matrix for value in row if value is not None]
    low, high = limits or (min(present, default=0.0), max(present, default=1.0))
    longest = LETTER * max(map(len, columns[1]))
    slanted = longest > (WIDTH - LETTER * max(map(len, rows[1]))) / len(columns[1])

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        _cells(axes, matrix, (low, high if high > low else low + 1), decimals)
        axes.set_xticks(
            [i + 0.5 for i in range(len(columns[1]))],
            [clean(name) for name in columns[1]],
            color=LIGHT["ink"],
            **(SLANTED if slanted else {}),
        )
        axes.set_yticks(
            [i + 0.5 for i in range(len(matrix))], [clean(name) for name in rows[1]], color=LIGHT["ink"]
        )
        axes.set_xlabel(f"{clean(columns[0])} (cells: {clean(unit)})", loc="left")
        axes.set_ylabel(clean(rows[0]))
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)

    cells = tuple((name, *row) for name, row in zip(rows[1], matrix, strict=True))
    height = 0.9 + 0.42 * len(matrix) + (0.7 * longest if slanted else 0)
    return Figure(title, Table((f"{rows[0]} \\ {columns[0]}", *columns[1]), cells), height, paint)


def _cells(
    axes: Any, matrix: Sequence[Sequence[float | None]], limits: tuple[float, float], decimals: int
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    low, high = limits
    shades = LinearSegmentedColormap.from_list("deadpan", CELLS)
    plain = [[math.nan if value is None else value for value in row] for row in matrix]
    axes.pcolormesh(plain, cmap=shades, vmin=low, vmax=high, edgecolors=LIGHT["ground"], linewidth=1.5)
    for y, row in enumerate(matrix):
        for x, value in enumerate(row):
            if value is None:
                text, ink = "–", LIGHT["muted"]
            else:
                text = f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"
                ink = _ink_on(shades((value - low) / (high - low)))
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink)


def _ink_on(shade: tuple[float, ...]) -> str:
    """Dark or light words, whichever stand out more from the cell (WCAG's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return ON_DARK_CELL if luminance < 0.18 else ON_LIGHT_CELL
