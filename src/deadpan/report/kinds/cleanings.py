"""Cleaned splits (datasets clean): what remains, what was removed and why, and systems before and after."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.page.numbers import digits, score
from deadpan.report.kinds.comparisons import in_words
from deadpan.report.outputs import Output
from deadpan.report.stories import Draw, Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per cleaned corpus."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    counts = dict(output.manifest.counts)
    removed = counts.pop("removed", 0)
    kept = sum(counts.values())
    source = str(output.manifest.config.get("source", output.name))
    with (output.folder / "removed.csv").open(encoding="utf-8", newline="") as file:
        reasons = Counter(row["reason"] for row in csv.DictReader(file))
    text = f"{removed:,} of {removed + kept:,} rows of {source} were removed as copies, conflicts or leaks."
    if not removed:
        text = f"Nothing had to be removed from {source}: {kept:,} rows."
    splits: tuple[tuple[Cell, ...], ...] = tuple(counts.items())
    tables = [StoryTable(Table(("split", "remain"), splits, "Splits"))]
    if reasons:
        why: tuple[tuple[Cell, ...], ...] = tuple(
            (reason.replace("_", " "), n) for reason, n in reasons.most_common()
        )
        tables.append(StoryTable(Table(("removed for", "rows"), why, "Removed")))
    weight = 48.0
    figures: tuple[Draw, ...] = ()
    if output.has("rescored.json"):
        found = read_json(output.folder / "rescored.json")
        tables.append(_rescored(found))
        fall = _fall(found)
        text, weight = text + fall, 72.0 if fall else weight
        figures = (lambda: _figure(found),)
    facts = (f"{kept:,} remain", f"{removed:,} removed", f"seed {output.manifest.seed}")
    return Story(
        f"{source}, cleaned", text, facts, (Finding(text, weight),), tuple(tables), figures, outputs=(output,)
    )  # fmt: skip


def _fall(found: Mapping[str, Any]) -> str:
    """Return the largest fall of a score whose intervals before and after do not overlap; else nothing."""
    falls = []
    for system, scores in found["systems"].items():
        for name, sides in scores.items():
            before, after = (decode(sides[side], Interval) for side in ("before", "after"))
            if before.low is not None and after.high is not None and after.high < before.low:
                places = digits([before, after])
                ends = f"{score(before, places)} to {score(after, places)}"
                fall = (after.value or 0.0) - (before.value or 0.0)
                falls.append((fall, f" For {system}, {in_words(name)} falls from {ends}."))
    return min(falls)[1] if falls else ""


def _figure(found: Mapping[str, Any]) -> Any:
    """Draw the first score of every system, on the corpus as it is and cleaned."""
    from deadpan.figures import whiskers

    name = next(iter(next(iter(found["systems"].values()))))
    drawn = {
        f"{system}, {word}": decode(scores[name][side], Interval)
        for system, scores in found["systems"].items()
        for side, word in (("before", "as it is"), ("after", "cleaned"))
    }
    return whiskers("Systems on the corpus as it is, and cleaned", drawn, unit=in_words(name))


def _rescored(found: Mapping[str, Any]) -> StoryTable:
    rows: list[tuple[Cell, ...]] = [
        (f"{system}, {in_words(name)}", decode(sides["before"], Interval),
         decode(sides["after"], Interval))
        for system, scores in found["systems"].items() for name, sides in scores.items()
    ]  # fmt: skip
    return StoryTable(Table(("system and score", "as it is", "cleaned"), tuple(rows), found["design"]))
