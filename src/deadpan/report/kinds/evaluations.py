"""Evaluations of one detector (detect evaluate): every score beside that of a constant answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.fields import decode
from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.report.kinds.comparisons import in_words
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json

MAIN = ("pair_accuracy", "balanced_accuracy", "f1")
DRAWN = ("pair_accuracy", "balanced_accuracy", "precision", "recall", "f1", "macro_f1", "auc")
"""Scores of the figure, all from 0 to 1, higher is better."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per evaluation."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "scores.json")
    scores = {name: decode(value, Interval) for name, value in found["scores"].items()}
    constant = found.get("constant_answer", {})
    rows: list[tuple[Cell, ...]] = [
        (in_words(name), value, constant.get(name)) for name, value in scores.items()
    ]
    main = next(
        (name for name in MAIN if name in scores and scores[name].value is not None), next(iter(scores))
    )
    value, trivial = scores[main], constant.get(main)
    what = f"{found['system']} on {found['data']}"
    better = value.low is not None and (trivial is None or value.low > trivial)
    text = (
        f"{what}: {in_words(main)} {score(value)}."
        if better
        else f"{what} is not significantly better than a constant answer: {in_words(main)} {score(value)}."
    )
    tables = (
        StoryTable(Table(("score", "value", "constant answer"), tuple(rows), f"Scores of {what}")),
        StoryTable(
            Table(
                ("truth", "predicted sincere", "predicted sarcastic", "unread"),
                tuple(
                    (name, *row)
                    for name, row in zip(("sincere", "sarcastic"), found["confusion"], strict=True)
                ),
                "Answers",
            )
        ),
    )

    def draw() -> Any:
        from deadpan.figures import whiskers

        drawn = {in_words(name): scores[name] for name in DRAWN if name in scores}
        return whiskers(text, drawn, unit="score")

    facts = (f"n = {found['n']:,}", f"threshold {found['threshold']:.3g}")
    return Story(what, text, facts, (Finding(text, 60),), tables, (draw,), outputs=(output,))
