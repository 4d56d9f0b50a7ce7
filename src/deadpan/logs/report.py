"""The folder of a comparison: JSON, a page with its figure, and the manifest last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.storage import prepare_output, write_json, write_manifest

if TYPE_CHECKING:
    from deadpan.logs.comparison import LogComparison


def write_comparison(result: LogComparison, folder: Path) -> None:
    """Write comparison.json, report.html, differences.svg and manifest.json."""
    before = prepare_output(folder)
    about = result.about()
    page = output_page(about)
    add_figure(page, folder, "differences", result.figure)
    add_summary(page, result)
    write_json(folder / "comparison.json", result.as_dict())
    page.write(folder / "report.html")
    write_manifest(
        folder, command="compare", config=result.settings or {"metric": result.metric}, inputs=result.files,
        before=before, counts={"items": result.n, "clusters": result.n_clusters},
        about=about,
    )  # fmt: skip
