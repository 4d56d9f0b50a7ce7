"""Mirage tests (detect mirage): detectors of generated sarcasm on organic speech."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per test."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "mirage.json")
    names = list(found["transfer"]["cells"])
    cells = {a: {b: decode(found["transfer"]["cells"][a][b], Interval) for b in names} for a in names}
    away = [cells[a][b] for a in found["generated"] for b in found["organic"] if a in cells and b in cells]
    above = sum(value.low is not None and value.low > 0.5 for value in away)
    text = (
        f"Trained on generated text, {found['transfer']['system']} is significantly above chance on organic "
        f"speech in {above} of {len(away)} cases; a probe tells the two apart with an AUC of "
        f"{score(decode(found['origin_auc'], Interval))}."
    )
    moves: tuple[tuple[Cell, ...], ...] = tuple((name, value) for name, value in found["moves"].items())
    rows: tuple[tuple[Cell, ...], ...] = tuple((f"{a} to {b}", cells[a][b]) for a in names for b in names)
    explained: tuple[tuple[Cell, ...], ...] = tuple(
        (name, one["detector"], decode(one["share"], Interval)) for name, one in found["explained"].items()
    )
    tables = [
        StoryTable(Table(("detector", "mean AUC"), moves, "Within and between kinds of text")),
        StoryTable(Table(("corpus", "detector AUC", "explained"), explained, "What the probe explains")),
        StoryTable(Table(("from, to", "AUC"), rows, "Every pair of corpora")),
    ]
    if told := found.get("told_as_generated"):
        shares: tuple[tuple[Cell, ...], ...] = tuple(
            (name, "generated" if name in found["generated"] else "organic", decode(share, Interval))
            for name, share in told.items()
        )
        tables.insert(2, StoryTable(Table(("corpus", "kind", "called generated"), shares, "The probe")))
    if model := found.get("model"):
        asked: tuple[tuple[Cell, ...], ...] = tuple(
            (name, decode(auc, Interval)) for name, auc in model["auc"].items()
        )
        tables.insert(1, StoryTable(Table(("corpus", "AUC"), asked, f"{model['model']}, asked")))

    def draw() -> Any:
        from deadpan.figures import heat

        matrix = [[cells[a][b].value for b in names] for a in names]
        return heat(
            "AUC from one corpus to another, generated ones first", matrix, rows=("trained on", names),
            columns=("tested on", names), unit="AUC", centre=0.5,
        )  # fmt: skip

    facts = (f"{len(found['generated'])} generated", f"{len(found['organic'])} organic",
             f"seed {output.manifest.seed}")  # fmt: skip
    return Story("Generated and organic sarcasm", text, facts, (Finding(text, 66),), tuple(tables), (draw,),
                 outputs=(output,))  # fmt: skip
