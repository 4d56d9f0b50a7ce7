"""The page of a manifest: command, seed, inputs, version, settings and files."""

from __future__ import annotations

import json

from deadpan.page import Cell, Link, Page
from deadpan.report.outputs import Output
from deadpan.storage import Manifest


def manifest_page(output: Output, back: str) -> Page:
    """Return everything that is needed to make an output again."""
    manifest = output.manifest
    page = Page(
        f"Where {output.name} comes from",
        f"deadpan {manifest.command}, version {manifest.version}"
        + ("" if manifest.seed is None else f", random seed {manifest.seed}")
        + ".",
        nav=(
            Link("All results", "../index.html"),
            Link("The result", back),
            Link("As JSON", "manifest.json"),
        ),
    )
    if output.problem:
        page.note(f"The numbers of this output are not shown: {output.problem}.")
    page.heading("Command").code(f"deadpan {manifest.command}")
    page.text(f"With {_arguments(manifest)}. The line as it was typed is not recorded: it would hold paths.")
    if manifest.config:
        page.heading("Settings")
        rows: list[tuple[Cell, ...]] = [(name, _text(value)) for name, value in manifest.config.items()]
        page.table(("setting", "value"), rows, label="Settings")
    page.heading("Inputs")
    if manifest.inputs:
        page.table(("file", "SHA-256"), list(manifest.inputs.items()), label="Inputs")
    else:
        page.text("None recorded: the command read no files, or its version did not record them.")
    for title, counts in (
        ("Counts", manifest.counts),
        ("Dropped", manifest.drops),
        ("Changed", manifest.changes),
    ):
        if counts:
            page.heading(title).table(("what", "number"), list(counts.items()), label=title)
    if manifest.files:
        page.heading("Files")
        files: list[tuple[Cell, ...]] = [
            (name, int(facts.get("bytes", 0)), str(facts.get("sha256", "")))
            for name, facts in manifest.files.items()
        ]
        page.table(("file", "bytes", "SHA-256"), files, label="Files", sortable=True)
    return page


def _arguments(manifest: Manifest) -> str:
    """Return which arguments of the command the page shows."""
    shown = {"the settings": manifest.config, "the inputs": manifest.inputs}
    parts = [f"{name} below" for name, there in shown.items() if there]
    if manifest.seed is not None:
        parts.append(f"random seed {manifest.seed}")
    return " and ".join(parts) or "no settings, inputs or random seed"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
