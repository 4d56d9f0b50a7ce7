"""The folder of a comparison: JSON, a page with its figure, and the manifest last."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.errors import MissingExtra
from deadpan.page import Page
from deadpan.results import Result
from deadpan.storage import prepare_output, write_json, write_manifest

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.logs.comparison import LogComparison


def write_comparison(result: LogComparison, folder: Path) -> None:
    """Write comparison.json, report.html, differences.svg and manifest.json."""
    before = prepare_output(folder)
    lead = f"{len(result.systems)} systems on the same {result.n:,} items, compared by {result.metric}."
    page = Page("Paired comparison", lead)
    add_figure(page, folder, "differences", result.figure)
    add_summary(page, result)
    write_json(folder / "comparison.json", result.as_dict())
    page.write(folder / "report.html")
    settings = {name: value for name, value in result.settings.items() if name != "seed"}
    write_manifest(
        folder, command="compare", config=settings or {"metric": result.metric}, inputs=result.files,
        before=before,
        seed=result.settings.get("seed"), counts={"items": result.n, "clusters": result.n_clusters},
    )  # fmt: skip


def add_figure(page: Page, folder: Path, name: str, draw: Callable[[], Figure]) -> None:
    """Add a figure to a page and save it beside; without matplotlib, a note with the cure."""
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
