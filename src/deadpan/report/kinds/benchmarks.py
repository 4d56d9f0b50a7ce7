"""SarcBench runs (bench run): one leaderboard per set of items, each row from its own run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.bench.runs.folder import read_run
from deadpan.bench.scores.comparison import compare_runs
from deadpan.bench.scores.score import RunScores, score_run
from deadpan.errors import DeadpanError
from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per set of items."""
    sets: dict[str, list[tuple[Output, RunScores]]] = {}
    for output in outputs:
        scores = score_run(read_run(output.folder), 0)
        sets.setdefault(scores.set_hash, []).append((output, scores))
    return [_story(sorted(runs, key=lambda run: -(run[1].avg.value or 0.0))) for runs in sets.values()]


def _story(runs: Sequence[tuple[Output, RunScores]]) -> Story:
    outputs, scores = tuple(output for output, _ in runs), [each for _, each in runs]
    first = scores[0]
    text = headline(outputs, scores)
    k = {each.runs for each in scores}
    name = f"Avg@{k.pop()}" if len(k) == 1 else "Avg@k"
    rows: list[tuple[Cell, ...]] = [
        (each.model, each.avg, each.maj, "complete" if each.complete else "incomplete", each.n)
        for each in scores
    ]
    kinds: list[tuple[Cell, ...]] = [
        (each.model, *(value.value for value in each.categories.values()), each.unread) for each in scores
    ]
    categories = tuple(category.replace("_", " ") for category in first.categories)
    tables = (
        StoryTable(
            Table(("model", name, name.replace("Avg", "Maj"), "run", "n"), tuple(rows), "Accuracy"), outputs
        ),
        StoryTable(Table(("model", *categories, "unread"), tuple(kinds), "By category"), outputs),
    )

    def draw() -> Any:
        from deadpan.figures import whiskers

        drawn = {each.model: each.avg for each in scores}
        return whiskers(text, drawn, unit=f"accuracy ({name})", mark=("chance", first.chance))

    facts = ("1 run" if len(runs) == 1 else f"{len(runs)} runs", f"{first.n:,} items", first.set)
    return Story(
        f"SarcBench, {first.set}", text, facts, (Finding(text, 75),), tables, (draw,), outputs=outputs
    )


def headline(outputs: Sequence[Output], scores: Sequence[RunScores]) -> str:
    """Return the finding: a leader only if it is significantly ahead of every other run."""
    first = scores[0]
    chance = f"chance is {first.chance:.3f}"
    if first.avg.low is None or first.avg.low <= first.chance:
        return f"No model is significantly above chance on {first.set} ({chance})."
    shown = f"{first.model} has an accuracy of {score(first.avg)}"
    if len(scores) == 1:
        return f"{shown} on {first.set}; {chance}."
    if _leads(outputs, scores):
        return (
            f"{first.model} leads on {first.set} with {score(first.avg)}, significantly ahead of all others."
        )
    low = min(each.avg.value or 0.0 for each in scores)
    span = f"{len(scores)} runs, {low:.2f} to {first.avg.value or 0.0:.2f}"
    return f"No model is significantly ahead of all others on {first.set} ({span}; {chance})."


def _leads(outputs: Sequence[Output], scores: Sequence[RunScores]) -> bool:
    """Return whether the first run differs significantly from every other one."""
    try:
        pairs = compare_runs([read_run(output.folder) for output in outputs])
    except DeadpanError:  # runs that cannot be compared, such as those of two prompts
        return False
    own = [pair for pair in pairs if scores[0].model in (pair.first, pair.second)]
    return len(own) == len(scores) - 1 and all(pair.significant for pair in own)
