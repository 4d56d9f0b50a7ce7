"""Reproductions of papers (reproduce): published beside ours, with the verdict of every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.reproduce.verdicts import MARKS, WORDS
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per reproduction."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "reproduction.json")
    papers = found["papers"]
    counts: list[tuple[Cell, ...]] = [
        (paper["short"], *(paper["counts"].get(word, 0) for word in WORDS)) for paper in papers
    ]
    tables = [StoryTable(Table(("paper", *WORDS), tuple(counts), "Cells by verdict"))]
    for paper in papers:
        tables += [
            StoryTable(_exhibit(paper["short"], exhibit), numeric=("published",))
            for exhibit in paper["exhibits"]
            if any(cell["verdict"] in ("reproduced", "differs") for cell in exhibit["cells"])
        ]
    names = ", ".join(paper["short"] for paper in papers)
    text = f"Of the published results of {names}: {found['headline']}"
    measured: dict[str, float | Interval] = {word: float(found["counts"].get(word, 0)) for word in WORDS}

    def draw() -> Any:
        from deadpan.figures import bars

        return bars("Cells of the papers by verdict", measured, unit="cells")

    facts = ("quick" if found["quick"] else "full", f"{sum(found['counts'].values()):,} cells",
             f"seed {output.manifest.seed}")  # fmt: skip
    return Story(f"Papers measured again: {names}", text, facts, (Finding(text, 90),), tuple(tables), (draw,),
                 outputs=(output,))  # fmt: skip


def _exhibit(paper: str, exhibit: Mapping[str, Any]) -> Table:
    rows = []
    for cell in exhibit["cells"]:
        ours: Cell = cell["ours_text"] or None
        if cell["ours"] is not None and cell["ours"]["low"] is not None:
            ours = decode(cell["ours"], Interval)
        mark = f"{MARKS[cell['verdict']]} {cell['verdict']}".replace(" ", "\u00a0")
        rows.append((f"{cell['row']}, {cell['column']}", cell["published_text"], ours, mark))
    return Table(("cell", "published", "ours", "verdict"), tuple(rows), f"{paper}: {exhibit['title']}")
