"""Generated dialogues (generate run): what became of the source dialogues, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.generate.folder import GenerationFolder
from deadpan.page import Cell, Table
from deadpan.report.kinds.others import manifest_tables
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import wilson
from deadpan.storage import Manifest


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per run."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    steps = _steps(output)
    rows: list[tuple[Cell, ...]] = [
        (name, each.counts["read"], each.counts["kept"], wilson(each.counts["kept"], each.counts["read"]))
        for name, each in steps
        if each.counts["read"]
    ]
    tables = [StoryTable(Table(("step", "read", "kept", "share kept"), tuple(rows), "Steps"))] if rows else []
    first = steps[0][1].counts["read"] if steps else 0
    last = steps[-1][1].counts["kept"] if steps else 0
    text = f"{last:,} of {first:,} source dialogues became dialogues ready for people."
    kept = {"read": float(first), **{f"after {name}": float(each.counts["kept"]) for name, each in steps}}

    def draw() -> Any:
        from deadpan.figures import bars

        return bars(text, kept, unit="dialogues")

    facts = (f"{first:,} read", f"{last:,} kept")
    shown, drawn = (*tables, *manifest_tables(output)), (draw,) if steps else ()
    return Story(
        f"Dialogues of {output.name}", text, facts, (Finding(text, 55),), shown, drawn, outputs=(output,)
    )


def _steps(output: Output) -> list[tuple[str, Manifest]]:
    """Return the finished steps that read and kept dialogues, in order."""
    found = GenerationFolder(output.folder).manifests()
    return [(name, each) for name, each in found.items() if {"read", "kept"} <= set(each.counts)]
