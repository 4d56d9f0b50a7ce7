"""Transfers between corpora (detect transfer): a matrix around chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.kinds.comparisons import in_words
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.stats.direction import beats, is_loss, with_direction
from deadpan.storage import read_json
from deadpan.validation import decode

EVEN = ("balanced_accuracy", "accuracy", "pair_accuracy", "auc")
CHANCE = 0.5
"""The value of each score at chance."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per matrix."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "transfer.json")
    metric, names = found["metric"], list(found["cells"])
    unit = with_direction(metric, in_words(metric))
    cells = {a: {b: decode(found["cells"][a][b], Interval) for b in names} for a in names}
    constants = [found["constant_answer"].get(b) for b in names]
    # Around a centre green would be above it, which is no praise of an error.
    centre = CHANCE if metric in EVEN else None if is_loss(metric) or None in constants else constants
    away = [cells[a][b] for a in names for b in names if a != b]
    level = [found["constant_answer"].get(b) for a in names for b in names if a != b]
    above = sum(
        value.low is not None and trivial is not None and beats(metric, value, trivial)
        for value, trivial in zip(away, level, strict=True)
    )
    text = (
        f"Trained on one corpus, {found['system']} is significantly better than a constant answer on another "
        f"in {above} of {len(away)} cases."
    )
    if found.get("together"):
        cells["all"] = {b: decode(found["together"][b], Interval) for b in names}
    rows: list[tuple[Cell, ...]] = [(f"{a} to {b}", row[b]) for a, row in cells.items() for b in names]

    def draw() -> Any:
        from deadpan.figures import heat

        matrix = [[row[b].value for b in names] for row in cells.values()]
        return heat(
            text, matrix, rows=("trained on", list(cells)), columns=("tested on", names), unit=unit,
            centre=centre,
        )  # fmt: skip

    table = StoryTable(Table(("from, to", unit), tuple(rows), "Every pair of corpora"))
    facts = (f"{len(names)} corpora", unit, f"seed {found['seed']}")
    return Story("From one corpus to another", text, facts, (Finding(text, 60),), (table,), (draw,),
                 outputs=(output,))  # fmt: skip
