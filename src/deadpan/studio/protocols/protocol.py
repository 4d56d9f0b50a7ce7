"""What every study is made of: questions, a screen, a guideline, and what its answers come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.agreement import Ratings, majority, ratings_from_judgments
from deadpan.draws import draw
from deadpan.errors import DataError
from deadpan.page import Table
from deadpan.records import Judgment
from deadpan.studies import StudyItem

Words = Any
"""Text that is translated when it is shown, not when it is written."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer. `when` names the answers to the earlier question under which it is offered."""

    value: str
    label: Words
    when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question; without choices it is answered in words. `after` and `when` make it depend on another."""

    name: str
    text: Words
    choices: tuple[Choice, ...] = ()
    required: bool = True
    after: str = ""
    when: tuple[str, ...] = ()

    def asked(self, answers: Mapping[str, str]) -> bool:
        """Whether it is asked, given the other answers."""
        return not self.after or answers.get(self.after, "") in self.when

    def allows(self, value: str, answers: Mapping[str, str]) -> bool:
        """Whether this is an answer to it. Nothing is always allowed: it takes an answer back."""
        if not value:
            return True
        if not self.choices:
            return len(value) <= 5000
        return any(
            choice.value == value and (not choice.when or answers.get(self.after, "") in choice.when)
            for choice in self.choices
        )


@dataclass(frozen=True, slots=True)
class Screen:
    """What a person sees of an item: never anything hidden."""

    context: Sequence[Mapping[str, str]]
    response: Mapping[str, str] | None
    notes: Sequence[tuple[Words, str]] = ()
    questions: Sequence[Question] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """One entry of a guideline: a case, an example of it, and why."""

    title: Words
    example: Words
    why: Words


@dataclass(frozen=True, slots=True)
class Answers:
    """What a report is made from: the last word of each person on each main item, and what was hidden."""

    judgments: Sequence[Judgment]
    hidden: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]
    resamples: int = 500
    submissions: Sequence[tuple[Mapping[str, Any], Sequence[str]]] = ()

    def ratings(self, question: Question) -> Ratings | None:
        """The answers to one question; None where there are none yet."""
        rows = [j for j in self.judgments if j.question == question.name and j.answer]
        if not rows:
            return None
        return ratings_from_judgments(rows, question.name, [choice.value for choice in question.choices])

    def majority(self, question: Question) -> dict[str, str]:
        """What most said, item by item; ties are left out."""
        ratings = self.ratings(question)
        labels = majority(ratings) if ratings else []
        return {label.item_id: label.value for label in labels if label.value is not None}


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report, and what it needs said."""

    title: str
    table: Table
    note: str = ""


class StudyProtocol:
    """A study of one kind. Each protocol is one file with one such class."""

    name: str = ""
    title: Words = ""
    summary: Words = ""
    raters: int = 3
    defaults: Mapping[str, Any] = {}
    survey: bool = False
    blurb: Words = ""
    lessons: Sequence[Lesson] = ()
    consent: Words = _(
        "You can stop at any time. What you answer is stored under a random name, together with how long you "
        "took. It is used for research and may be published without anything that names you. You get a code "
        "with which you can withdraw everything later."
    )

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        """What is asked of every item."""
        raise DataError(f"the protocol {self.name} asks nothing item by item")

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        """What is shown of an item. `order` decides the order of options, the same each time it is seen."""
        return Screen(item.context, item.response, (), self.questions(settings))

    def check(self, items: Sequence[StudyItem]) -> None:
        """Refuse items this protocol cannot ask about; the error says which and why."""
        if not items:
            raise DataError(f"the protocol {self.name} needs items: give --study or --items")

    def report(self, answers: Answers) -> list[Section]:
        """What the answers come to, for the owner."""
        return [section for q in self.questions(answers.settings) if (section := shares(answers, q))]


def shares(answers: Answers, question: Question) -> Section | None:
    """How often each answer won, for a question with choices."""
    if not question.choices:
        return None
    ratings = answers.ratings(question)
    labels = majority(ratings) if ratings else []
    n = len(labels)
    rows: list[tuple[str, int, str]] = []
    for choice in question.choices:
        won = sum(label.value == choice.value for label in labels)
        rows.append((str(choice.label), won, f"{won / n:.0%}" if n else "–"))
    ties = sum(label.value is None for label in labels)
    rows.append((gettext("no majority"), ties, f"{ties / n:.0%}" if n else "–"))
    head = (gettext("answer"), gettext("items"), gettext("share"))
    return Section(str(question.text), Table(head, tuple(rows)))


SARCASTIC, SINCERE = "sarcastic", "not sarcastic"


def sarcastic_or_not(text: Words) -> Question:
    """A question with these two answers."""
    return Question(
        "sarcastic", text, (Choice(SARCASTIC, _("Sarcastic")), Choice(SINCERE, _("Not sarcastic")))
    )


def shuffled(count: int, order: str) -> list[int]:
    """The places 0..count-1 in an order that depends on `order` alone."""
    return sorted(range(count), key=lambda place: draw(0, f"{order}\x1f{place}"))


_LABELS = {
    "sarcastic": True, "sarcasm": True, "1": True, "true": True,
    "not sarcastic": False, "not_sarcastic": False, "sincere": False, "0": False, "false": False,
}  # fmt: skip


def is_sarcastic(hidden: Mapping[str, Any]) -> bool | None:
    """The label an item came with, if it came with one."""
    value = hidden.get("label")
    if isinstance(value, str):
        return _LABELS.get(value.lower())
    return None if value is None else bool(value)
