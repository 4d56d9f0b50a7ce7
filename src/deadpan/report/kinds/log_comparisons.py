"""Comparisons of results of any tool (compare): differences paired by item, and what the items can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per comparison."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "comparison.json")
    metric = found["metric"]
    means = {name: decode(value, Interval) for name, value in found["systems"].items()}
    differences = {
        f"{pair['first']} − {pair['second']}": decode(pair["difference"], Interval)
        for pair in found["comparisons"]
    }
    text = headline(found)
    pairs: list[tuple[Cell, ...]] = [
        (name, differences[name], pair["p_holm"], pair["detectable"], pair["verdict"])
        for name, pair in zip(differences, found["comparisons"], strict=True)
    ]
    columns = ("difference", metric, "p, Holm", "detectable", "result")
    tables = (
        StoryTable(Table(("system", f"mean {metric}", "n"),
                         tuple((name, mean, mean.n) for name, mean in means.items()), "Means")),
        StoryTable(Table(columns, tuple(pairs), "Differences, paired by item; detectable with 80 % power")),
    )  # fmt: skip

    def draw() -> Any:
        from deadpan.figures import whiskers

        return whiskers(text, differences, unit=f"difference of {metric}", mark=("no difference", 0.0))

    facts = (f"{len(means)} systems", f"{found['n']:,} items", f"{found['n_clusters']:,} clusters")
    return Story(f"Results of {', '.join(means)}" if len(means) < 4 else f"Results of {len(means)} systems",
                 text, facts, (Finding(text, 76),), tables, (draw,), tuple(found["notes"]),
                 outputs=(output,))  # fmt: skip


def headline(found: Mapping[str, Any]) -> str:
    """Return the finding: a winner only if it is significantly better than every other system."""
    names, pairs, items = list(found["systems"]), found["comparisons"], f"{found['n']:,} items"
    best = max(names, key=lambda name: found["systems"][name]["value"] or 0.0)
    own = [pair for pair in pairs if best in (pair["first"], pair["second"])]
    if len(own) == len(names) - 1 and all(pair["significant"] for pair in own):
        others = "the other" if len(names) == 2 else "all others"
        value = score(decode(found["systems"][best], Interval))
        return f"{best} is significantly better than {others} on {items}: mean {found['metric']} {value}."
    settled = sum(pair["significant"] for pair in pairs)
    if not settled:
        return f"No significant difference between {len(names)} systems on {items}."
    return f"{settled} of {len(pairs)} differences between {len(names)} systems are significant on {items}."
