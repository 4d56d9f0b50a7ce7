"""Answers of people (studio export): agreement on every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from deadpan.errors import DeadpanError
from deadpan.formats.export import read_export
from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.ratings import Agreement, agreement, ratings_from_judgments
from deadpan.report.kinds.others import manifest_tables
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval

RESAMPLES = 500
MOST_CHOICES = 12
"""Questions with more different answers than this are remarks, on which people do not agree or disagree."""
COEFFICIENT = "alpha"
NAMES = {
    "raw": "raw agreement",
    "cohen": "Cohen's kappa, mean of pairs",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
}
"""Coefficients as people write them."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per export."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    export = read_export(output.folder)
    people = len({judgment.annotator for judgment in export.judgments})
    items = len({judgment.item_id for judgment in export.judgments})
    found = {
        question: values
        for question in _questions(export.judgments)
        if (values := _agreement(export, question))
    }
    title = str(output.manifest.config.get("study") or output.name)
    text = f"{people:,} people gave {len(export.judgments):,} answers about {items:,} items of “{title}”."
    alphas: dict[str, Interval] = {
        name: each[COEFFICIENT] for name, each in found.items() if COEFFICIENT in each
    }
    if alphas:
        name, value = next(iter(alphas.items()))
        text += f" Krippendorff's alpha on “{name}” is {score(value)}."
    tables = [
        StoryTable(Table(("coefficient", "value"), _rows(each), f"Agreement on “{question}”"))
        for question, each in found.items()
    ]

    def draw() -> Any:
        from deadpan.figures import whiskers

        return whiskers(_finding(alphas), alphas, unit="Krippendorff's alpha", mark=("chance", 0.0))

    facts = (str(output.manifest.config.get("protocol", "")), f"{people:,} people", f"{items:,} items")
    shown, drawn = (*tables, *manifest_tables(output)), (draw,) if alphas else ()
    kept = tuple(filter(None, facts))
    return Story(f"Study “{title}”", text, kept, (Finding(text, 65),), shown, drawn, outputs=(output,))


def _finding(alphas: dict[str, Interval]) -> str:
    """Return how many questions people agree on more than by chance."""
    above = sum(value.low is not None and value.low > 0 for value in alphas.values())
    if len(alphas) == 1:
        return f"People agree {'more than' if above else 'no more than'} expected by chance."
    return f"People agree more than expected by chance on {above} of {len(alphas)} questions."


def _rows(each: Agreement) -> tuple[tuple[Cell, ...], ...]:
    return tuple((NAMES.get(name, name), value) for name, value in each.items())


def _questions(judgments: Sequence[Any]) -> list[str]:
    answers: dict[str, Counter[str]] = {}
    for judgment in judgments:
        answers.setdefault(judgment.question, Counter())[judgment.answer] += 1
    return [question for question, counts in answers.items() if len(counts) <= MOST_CHOICES]


def _agreement(export: Any, question: str) -> Agreement | None:
    try:
        return agreement(ratings_from_judgments(list(export.judgments), question), resamples=RESAMPLES)
    except DeadpanError:  # one rater, or one item: nothing to agree on
        return None
