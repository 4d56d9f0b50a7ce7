"""SARC's test of people: two responses to one context, which of them is sarcastic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.agreement import fleiss_kappa
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

WHICH = Question(
    "choice",
    _("Which of the two is sarcastic?"),
    (Choice("1", _("First")), Choice("2", _("Second"))),
)


class Choose(StudyProtocol):
    """The answer is the option's place in the study, whatever order a person saw."""

    name = "choose"
    title: Words = _("Which one is sarcastic?")
    summary: Words = _("Two people answered the same post. Choose the sarcastic one.")
    raters = 5
    blurb: Words = _("One of the two responses was marked as sarcastic by the one who wrote it. Choose it.")
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Two responses to “The train is late again”"),
            _("“What a surprise.” – “Take the bus, it is faster.”"),
            _("The first says surprise and means none."),
        ),
    )

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return (WHICH,)

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        """What both answer is the last turn of the context; the options stand in this person's order."""
        choices = tuple(Choice(str(place + 1), item.options[place]) for place in shuffled(2, order))
        return Screen([*item.context, item.response], None, (), (Question(WHICH.name, WHICH.text, choices),))

    def check(self, items: Sequence[StudyItem]) -> None:
        super().check(items)
        for item in items:
            if len(item.options) != 2 or not all(option.strip() for option in item.options):
                raise DataError(f"item {item.id!r} needs exactly two options that are not empty")
            if item.hidden.get("answer") not in (0, 1) and "check" not in item.hidden:
                raise DataError(f"item {item.id!r} needs hidden.answer, 0 or 1: which option is sarcastic")

    def report(self, answers: Answers) -> list[Section]:
        truth = {
            item: str(hidden["answer"] + 1) for item, hidden in answers.hidden.items() if "answer" in hidden
        }
        given = [j for j in answers.judgments if j.question == WHICH.name and j.answer and j.item_id in truth]
        right = sum(j.answer == truth[j.item_id] for j in given)
        found = {item: value for item, value in answers.majority(WHICH).items() if item in truth}
        rows: list[tuple[Cell, ...]] = [
            (gettext("average of people"), wilson(right, len(given))),
            (gettext("majority"), wilson(sum(v == truth[i] for i, v in found.items()), len(found))),
        ]
        ratings = answers.ratings(WHICH)
        if ratings is not None:
            rows.append((gettext("Fleiss' kappa"), fleiss_kappa(ratings, resamples=answers.resamples)))
        note = gettext(
            "Chance is 0.5. Answers of one item are not independent: the average's interval is too narrow."
        )
        return [
            Section(
                gettext("How well people tell"),
                Table((gettext("score"), gettext("value")), tuple(rows)),
                note,
            )
        ]
