"""Replays of labelling (detect labelling): random against informative order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per replay."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "labelling.json")
    curves = {name: [decode(value, Interval) for value in found[name]] for name in ("random", "informative")}
    text = found["verdict"]
    rows: tuple[tuple[Cell, ...], ...] = tuple(zip(found["sizes"], *curves.values(), strict=True))
    tables = (StoryTable(Table(("labels", *curves), rows, "Macro F1 on held-out examples")),)

    def draw() -> Any:
        from deadpan.figures.curves import lines

        series = {name: list(zip(map(float, found["sizes"]), curve, strict=True))
                  for name, curve in curves.items()}  # fmt: skip
        return lines("Macro F1 by number of labels", series, x_unit="labels", y_unit="macro F1")

    facts = (f"{found['sizes'][-1]:,} labels", f"seed {output.manifest.seed}")
    return Story(f"Labelling less: {output.name}", text, facts, (Finding(text, 57),), tables, (draw,),
                 outputs=(output,))  # fmt: skip
