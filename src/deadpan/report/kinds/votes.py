"""Studies of votes (detect votes): what authors mean, what people hear, and what votes teach."""

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
    """Return a story per study."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "votes.json")
    trained = {"majority": found["majority"], "votes": found["votes"]}
    if found.get("who_said_so"):
        trained["both"] = found["who_said_so"]
    scores: tuple[tuple[Cell, ...], ...] = tuple(
        (name.replace("_", " "), *(decode(side["scores"][name], Interval) for side in trained.values()))
        for name in found["majority"]["scores"]
    )
    tables = [StoryTable(Table(("score", *trained), scores, "Against the votes, trained on"))]
    heard = found.get("perception")
    by_votes: dict[str, Interval] = {}
    if heard:
        by_votes = {
            f"{votes} of {heard['voters']} hear it": decode(share, Interval)
            for votes, share in heard["meant_by_votes"].items()
        }
        rows: tuple[tuple[Cell, ...], ...] = tuple((name, share, share.n) for name, share in by_votes.items())
        tables.append(StoryTable(Table(("people", "meant sarcastically", "n"), rows, "Meant and heard")))

    def draw() -> Any:
        from deadpan.figures import whiskers

        title = "Meant sarcastically, by number of people who hear sarcasm"
        return whiskers(title, by_votes, unit="share meant sarcastically")

    text = found["verdict"]
    facts = (f"{found['majority']['n']:,} texts", found["system"], f"seed {output.manifest.seed}")
    drawn = (draw,) if by_votes else ()
    return Story("Intended and perceived", text, facts, (Finding(text, 62),), tuple(tables), drawn,
                 outputs=(output,))  # fmt: skip
