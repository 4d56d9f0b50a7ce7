"""Results on a page: their figures, and the tables and notes that the terminal shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.errors import MissingExtra
from deadpan.page.page import Page

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.results import Result


def add_figure(page: Page, folder: Path, name: str, draw: Callable[[], Figure]) -> None:
    """Add a figure to a page and save it beside it; without matplotlib, a note that says how to get it."""
    try:
        figure = draw()
        figure.save(folder, name)
        page.figure(figure.svg(), figure.title, figure.table)
    except MissingExtra as missing:
        page.note(str(missing))


def add_summary(page: Page, result: Result) -> None:
    """Add the tables and notes that the terminal shows."""
    summary = result.summary()
    for table in summary.tables:
        page.table(table.columns, table.rows, caption=table.title)
    for note in summary.notes:
        page.note(note)
