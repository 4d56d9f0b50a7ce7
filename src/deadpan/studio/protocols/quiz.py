"""SarcBench for people: six options, one best; the human row of the leaderboard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.errors import DataError
from deadpan.page import Cell, Table
from deadpan.stats import wilson
from deadpan.studies import StudyItem
from deadpan.studio.protocols.protocol import (
    Answers,
    Choice,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    Words,
    shuffled,
)

LETTERS = "ABCDEF"
BEST = Question(
    "answer",
    _("Which answer fits best?"),
    tuple(Choice(letter, letter) for letter in LETTERS),
)


class Quiz(StudyProtocol):
    """The answer is the option's letter in the item set, whatever order a person saw."""

    name = "quiz"
    title: Words = _("Take the benchmark")
    summary: Words = _("Read a short scene and choose what the speaker most likely means.")
    defaults: Mapping[str, Any] = {"agreement_threshold": 0.7}
    blurb: Words = _(
        "Each question has six answers, and one fits best. Some speakers are sarcastic and some are not. "
        "Answer by yourself, without looking anything up."
    )
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Read the scene first"),
            _("“Perfect timing”, says she as the bus pulls away."),
            _("The words praise the timing, the scene shows that it was bad: she is annoyed."),
        ),
    )

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return (BEST,)

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        choices = tuple(
            Choice(LETTERS[place], item.options[place]) for place in shuffled(len(item.options), order)
        )
        text = str(item.shown.get("question") or BEST.text)
        return Screen(item.context, item.response, (), (Question(BEST.name, text, choices),))

    def check(self, items: Sequence[StudyItem]) -> None:
        super().check(items)
        for item in items:
            if len(item.options) != len(LETTERS) or not all(option.strip() for option in item.options):
                raise DataError(f"item {item.id!r} needs six options that are not empty")
            if "check" not in item.hidden and item.hidden.get("answer") not in range(len(LETTERS)):
                raise DataError(f"item {item.id!r} needs hidden.answer, 0 to 5: the place of the best option")

    def report(self, answers: Answers) -> list[Section]:
        truth = {i: LETTERS[hidden["answer"]] for i, hidden in answers.hidden.items() if "answer" in hidden}
        people: dict[str, list[bool]] = defaultdict(list)
        categories: dict[str, list[bool]] = defaultdict(list)
        items: dict[str, list[bool]] = defaultdict(list)
        for judgment in answers.judgments:
            if judgment.question == BEST.name and judgment.answer and judgment.item_id in truth:
                right = judgment.answer == truth[judgment.item_id]
                people[judgment.annotator].append(right)
                category = str(answers.hidden[judgment.item_id].get("category") or gettext("no category"))
                categories[category].append(right)
                items[judgment.item_id].append(right)
        threshold = float(answers.settings.get("agreement_threshold", 0.7))
        low = {item: marks for item, marks in items.items() if sum(marks) / len(marks) < threshold}
        return [
            _scores(gettext("Score of each person"), gettext("person"), people),
            _scores(gettext("Score by category"), gettext("category"), categories),
            _scores(
                gettext("Items on which fewer than %(share)d %% chose the keyed answer")
                % {"share": threshold * 100},
                gettext("item"),
                low,
            ),
        ]


def _scores(title: str, noun: str, marks: Mapping[str, Sequence[bool]]) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (name, wilson(sum(given), len(given))) for name, given in sorted(marks.items())
    ]
    note = "" if rows else gettext("None so far.")
    return Section(title, Table((noun, gettext("share right")), tuple(rows)), note)
