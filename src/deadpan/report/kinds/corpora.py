"""Corpora built from dumps (corpus build): sizes, benchmarks, subreddits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.kinds.others import counts_table
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import wilson
from deadpan.storage import read_json

SHOWN = 12


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per corpus."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "stats.json")
    totals = found["totals"]
    share = wilson(totals["sarcastic"], totals["comments"])
    synthetic = bool(output.manifest.config.get("synthetic"))
    text = ("Synthetic dumps, not Reddit's: " if synthetic else "") + (
        f"{totals['comments']:,} comments by {totals['authors']:,} authors, of which "
        f"{totals['sarcastic']:,} are marked sarcastic ({100 * (share.value or 0):.2f}\u00a0%)."
    )
    benchmarks: list[tuple[Cell, ...]] = [
        (f"{name}, {part}", each["count"], each["replies"])
        for name, parts in found["benchmarks"].items()
        for part, each in parts.items()
    ]
    largest = sorted(found["subreddits"].items(), key=lambda one: -one[1]["comments"])[:SHOWN]
    shares = {f"r/{name}": wilson(each["sarcastic"], each["comments"]) for name, each in largest if name}
    tables = [StoryTable(Table(("benchmark", "sequences", "replies"), tuple(benchmarks), "Benchmarks"))]
    tables += [counts_table(name, counts) for name, counts in _counts(output) if counts]

    def draw() -> Any:
        from deadpan.figures import bars

        return bars("Share of sarcastic comments in the largest subreddits", shares, unit="share")

    facts = (f"{totals['comments']:,} comments", f"{totals['subreddits']:,} subreddits")
    figures = (draw,) if shares else ()
    title = f"{output.name}: a corpus from {'synthetic ' if synthetic else ''}dumps"
    return Story(title, text, facts, (Finding(text, 50),), tuple(tables), figures, outputs=(output,))


def _counts(output: Output) -> list[tuple[str, Mapping[str, int]]]:
    return [("dropped", output.manifest.drops), ("changed", output.manifest.changes)]
