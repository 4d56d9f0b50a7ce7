"""The page of a manifest: command, seed, inputs, version, settings and files."""

from __future__ import annotations

import json

from deadpan.page import Cell, Link, Page
from deadpan.report.outputs import Output
from deadpan.storage import Manifest

HASH = "SHA-256, first 12 digits"


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
    page.text(
        f"Run with {_arguments(manifest)}. The command line as typed is not recorded, because it would "
        "contain paths."
    )
    if manifest.config:
        page.heading("Settings")
        rows: list[tuple[Cell, ...]] = [(name, _text(value)) for name, value in manifest.config.items()]
        page.table(("setting", "value"), rows, label="Settings")
    page.heading("Inputs")
    if manifest.inputs:
        inputs: list[tuple[Cell, ...]] = [(name, _short(found)) for name, found in manifest.inputs.items()]
        page.table(("file", HASH), inputs, label="Inputs")
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
            (name, int(facts.get("bytes", 0)), _short(str(facts.get("sha256", ""))))
            for name, facts in manifest.files.items()
        ]
        page.table(("file", "bytes", HASH), files, label="Files", sortable=True)
    return page


def _short(found: str) -> str:
    """Return the start of a hash; manifest.json, which the page links to, has all of it."""
    return found[:12]


def _arguments(manifest: Manifest) -> str:
    """Return which arguments of the command the page shows."""
    shown = {"settings": manifest.config, "inputs": manifest.inputs}
    parts = " and ".join(name for name, there in shown.items() if there)
    return f"the {parts} below" if parts else "no settings and no inputs"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
