"""The base class of protocols, and what it speaks of: questions, screens, answers and reports.

A new protocol is one file with a subclass, and one registration. Another package registers its class under
the entry point group `deadpan.protocols`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, Literal, TypeVar

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.draws import draw
from deadpan.draws import sample as draw_sample
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.judgments import Submission
from deadpan.formats.study import QuestionKind, StudyItem, StudySettings
from deadpan.page import Table
from deadpan.ratings import Ratings, majority, ratings_from_judgments
from deadpan.records import Example, Judgment, Label, Turn

LazyText = Any
"""Text that is translated when it is shown, not when it is written."""
IS_SARCASTIC = "sarcastic"
"""Name of the question "sarcastic or not"."""
SARCASTIC, SINCERE = "sarcastic", "not sarcastic"
LONGEST_REMARK = 5000
_MOST_SPANS = 500
Cases = tuple[Mapping[str, tuple[str, ...]], ...]
"""Cases of which one must hold: in it, each question named has one of the answers; "" is no answer yet."""


def any_case_holds(cases: Cases, answers: Mapping[str, str]) -> bool:
    """Return whether one of the cases holds."""
    return any(all(_given(answers.get(name, "")) & {*values} for name, values in case.items()) for case in cases)


def _given(answer: str) -> set[str]:
    """Return the answers given to a question: one, or those of a list."""
    found = _parsed_list(answer)
    return {answer} if found is None else {part for part in found if isinstance(part, str)}


def _parsed_list(answer: str) -> list[Any] | None:
    if not answer.startswith("["):
        return None
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer. `when` names the answers to the earlier question under which it is offered."""

    value: str
    label: LazyText
    when: tuple[str, ...] = ()
    cases: Cases = ()
    """Instead of `when`, where it depends on several questions."""

    def offered(self, answers: Mapping[str, str], after: str) -> bool:
        """Return whether it can be chosen, given the other answers; `after` is the earlier question."""
        cases = self.cases or (({after: self.when},) if self.when else ())
        return not cases or any_case_holds(cases, answers)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; without choices it is answered in words. `after` and `when` make it depend on another."""

    name: str
    text: LazyText
    choices: tuple[Choice, ...] = ()
    required: bool = True
    after: str = ""
    when: tuple[str, ...] = ()
    cases: Cases = ()
    """Instead of `after` and `when`, where it depends on several questions."""
    quotes: Literal["", "choices", "all"] = ""
    """Words that are the item's own, in its language: the choices, or the question too."""
    kind: QuestionKind = "choice"
    """The way it is answered. A list of answers, an order and spans are JSON; a scale has choices."""
    options: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    ends: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    """Length of each turn that spans may lie in."""

    @property
    def in_words(self) -> bool:
        """Return whether it is answered in words of one's own."""
        return not self.choices and self.kind in ("choice", "text")

    @property
    def options_json(self) -> str:
        """The options, for the script of the page."""
        return json.dumps(self.options, ensure_ascii=False)

    @property
    def conditions(self) -> Cases:
        """The cases in which it is asked; empty if it always is."""
        return self.cases or (({self.after: self.when},) if self.after else ())

    @property
    def conditions_json(self) -> str:
        """The cases, for the script of the page."""
        return json.dumps(self.conditions)

    def asked(self, answers: Mapping[str, str]) -> bool:
        """Return whether it is asked, given the other answers."""
        return not self.conditions or any_case_holds(self.conditions, answers)

    def allows(self, value: str, answers: Mapping[str, str]) -> bool:
        """Return whether `value` is a possible answer. An empty one always is: it clears an answer."""
        if not value:
            return True
        if self.in_words:
            return len(value) <= LONGEST_REMARK
        if not self.choices:
            return self._fits(value)
        return any(choice.value == value and choice.offered(answers, self.after) for choice in self.choices)

    def _fits(self, value: str) -> bool:
        """Return whether a number, a list, an order or spans are possible."""
        if self.kind == "slider":
            digits = value.removeprefix("-")
            return digits.isascii() and digits.isdigit() and len(digits) < 9 and self.low <= int(value) <= self.high
        found = _parsed_list(value)
        if found is None or len(found) > _MOST_SPANS:
            return False
        if self.kind == "spans":
            return all(self._is_span(span) for span in found)
        names = [name for name in found if isinstance(name, str) and name in self.options]
        whole = len(set(names)) == len(found)
        return whole and (self.kind == "many" or len(found) == len(self.options))

    def _is_span(self, span: Any) -> bool:
        """Return whether a span has a label and lies in its turn."""
        if not isinstance(span, dict) or span.keys() != {"turn", "start", "end", "label"}:
            return False
        turn, start, end = (span[name] for name in ("turn", "start", "end"))
        if not all(type(place) is int for place in (turn, start, end)) or span["label"] not in self.options:
            return False
        # Without the item's text, as in an import, only the order can be checked.
        inside = 0 <= turn < len(self.lengths) and end <= self.lengths[turn] if self.lengths else turn >= 0
        return bool(inside and 0 <= start < end)

    @property
    def values(self) -> list[str]:
        """The values of its choices."""
        return [choice.value for choice in self.choices]


REMARK = Question("comment", _("Anything to add? (optional)"), required=False)


def with_remark(questions: Sequence[Question]) -> list[Question]:
    """Return the questions and, where none is answered in words, room for a remark."""
    return [*questions] if any(q.name == REMARK.name for q in questions) else [*questions, REMARK]


@dataclass(frozen=True, slots=True)
class Screen:
    """The view a person has of an item; never a hidden field."""

    context: Sequence[Turn]
    response: Turn | None
    notes: Sequence[tuple[LazyText, str]] = ()
    questions: Sequence[Question] = ()
    after: Sequence[Turn] = ()
    """Turns that followed the response."""
    language: str = ""
    """Of the item's words, where it is not the study's."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One entry of a guideline: a case, an example of it, and the reason."""

    title: LazyText
    example: LazyText
    why: LazyText


def sarcastic_or_not(text: LazyText) -> Question:
    """Return a question with these two answers."""
    return Question(IS_SARCASTIC, text, (Choice(SARCASTIC, _("Sarcastic")), Choice(SINCERE, _("Not sarcastic"))))


def shuffled_places(count: int, order: str) -> list[int]:
    """Return the places 0 to count - 1 in an order that depends on `order` alone."""
    # The same person sees the same order on every visit; another person another.
    return sorted(range(count), key=lambda place: draw(0, f"{order}\x1f{place}"))


# ---------------------------------------------------------------- answers


ItemT = TypeVar("ItemT", bound=StudyItem)
SettingsT = TypeVar("SettingsT", bound=StudySettings)


@dataclass(frozen=True, slots=True)
class Answers(Generic[ItemT, SettingsT]):
    """The latest answer of each person to each question of the main items, and the items themselves."""

    judgments: Sequence[Judgment]
    settings: SettingsT
    items: Mapping[str, ItemT] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The final answer per item and question: the adjudicator's or the majority's."""
    submissions: Sequence[Submission] = ()
    """Accepted submissions of a survey."""
    rejected: Sequence[Sequence[str]] = ()
    """The reasons of each submission that was not accepted."""
    source: str = ""
    language: str = ""
    resamples: int = 500

    def ratings(self, question: Question) -> Ratings | None:
        """Return the answers to one question; None where there are none yet."""
        rows = [j for j in self.judgments if j.question == question.name and j.answer]
        return ratings_from_judgments(rows, question.name, question.values) if rows else None

    def majority(self, question: Question) -> dict[str, str]:
        """Return the majority's answer per item, without ties."""
        ratings = self.ratings(question)
        labels = majority(ratings) if ratings else []
        return {label.item_id: label.value for label in labels if label.value is not None}


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report, with a note."""

    title: str
    table: Table
    note: str = ""


def answer_shares(answers: Answers[ItemT, SettingsT], question: Question) -> Section | None:
    """Return how often each choice won; None for a question without choices."""
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


# ---------------------------------------------------------------- protocols


AnyItem = TypeVar("AnyItem", bound=StudyItem)


@dataclass(frozen=True, slots=True)
class SurveyEntry:
    """A filled-in survey form: what is stored, why it cannot be used, and what can still be corrected."""

    answers: dict[str, Any]
    reasons: tuple[str, ...]
    correctable: tuple[str, ...]
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields of the form at which each reason is shown; those without one are shown at its top."""


class StudyProtocol(Generic[ItemT, SettingsT]):
    """A study of one kind: its items, questions, screen, settings, report and release."""

    name: ClassVar[str] = ""
    item_type: ClassVar[type[StudyItem]] = StudyItem
    settings_type: ClassVar[type[StudySettings]] = StudySettings
    reads: ClassVar[Literal["examples", "items"]] = "examples"
    """The records items are made from: labelled Examples, or the Items of SarcBench."""
    title: LazyText = ""
    summary: LazyText = ""
    raters: int = 3
    qualification: int = 0
    """Items in the qualification round of a study that is at least three times as large."""
    survey: bool = False
    own_questions: bool = False
    """Its questions are built with the study."""
    blurb: LazyText = ""
    lessons: Sequence[Lesson] = ()
    consent: LazyText = _(
        "You can stop at any time. Your answers are stored under a random name, together with the time they "
        "took. They are used for research and may be published without anything that identifies you. You get "
        "a code with which you can withdraw everything later."
    )

    def introduction(self, settings: SettingsT) -> str:
        """Return the blurb, with the numbers of this study's settings."""
        return str(self.blurb)

    # ------------------------------------------------------------ items and screens

    def items_from(self, records: Sequence[Any], *, sample: int = 0, seed: int = 0) -> list[ItemT]:
        """Return items made from records, `sample` of them at random (0: all)."""
        return sample_items([self.item_from(record) for record in records], sample, seed)

    def item_from(self, record: Any) -> ItemT:
        """Return the item of one record."""
        raise ConfigError(f"the protocol {self.name} makes no items from {self.reads}")

    def questions(self, settings: SettingsT) -> tuple[Question, ...]:
        """Return the questions asked about every item."""
        return ()

    def screen(self, item: ItemT, settings: SettingsT, order: str) -> Screen:
        """Return what is shown of an item. `order` decides the order of its options, always the same."""
        return Screen(item.context, item.response, (), self.questions(settings))

    def family_of(self, item: ItemT) -> str:
        """Return a name that items share of which nobody gets two; empty if there is none."""
        return ""

    def language_of(self, item: ItemT) -> str:
        """Return the language of an item, if only those who read it should get it."""
        return ""

    def key_of(self, item: ItemT) -> str | None:
        """Return the right answer to the first question, if there is one."""
        return None

    # ------------------------------------------------------------ results

    def report(self, answers: Answers[ItemT, SettingsT]) -> list[Section]:
        """Return the tables the owner sees."""
        return [section for q in self.questions(answers.settings) if (section := answer_shares(answers, q))]

    def invalid_items(self, labels: Sequence[Label]) -> dict[str, str]:
        """Return the items whose answers say that they have no label, each with the reason."""
        return {}

    def to_examples(self, answers: Answers[ItemT, SettingsT], tally: Tally) -> Iterator[Example]:
        """Yield what a release contains; items without a label are dropped and counted."""
        for item in answers.items.values():
            values = answers.labels.get(item.id)
            if values is None:
                tally.drop("no_majority", item.id)
            else:
                yield from self.examples_of(item, values, answers, tally)

    def examples_of(
        self, item: ItemT, values: Mapping[str, str], answers: Answers[ItemT, SettingsT], tally: Tally
    ) -> Iterator[Example]:
        """Yield the examples of one item, given the final answer to each question."""
        raise ConfigError(f"the protocol {self.name} gives no labels: export its answers instead")

    # ------------------------------------------------------------ surveys

    survey_template: str = ""
    survey_reasons: Mapping[str, LazyText] = {}
    """The message to the participant for each reason a submission cannot be used."""

    def survey_reason(self, reason: str, settings: SettingsT) -> str:
        """Return the message of a reason, with the numbers of this study's settings."""
        return str(self.survey_reasons.get(reason, reason))

    def survey_form(self, data: Any, settings: SettingsT) -> Any:
        """Return the Django form of a survey."""
        raise DataError(f"the protocol {self.name} is not a survey")

    def survey_entry(
        self,
        cleaned: Mapping[str, Any],
        settings: SettingsT,
        *,
        seconds: float,
        now: datetime,
        earlier: Sequence[Mapping[str, Any]],
    ) -> SurveyEntry:
        """Return a valid form as a submission. `earlier` holds the answers of all other submissions."""
        raise DataError(f"the protocol {self.name} is not a survey")


def sample_items(items: list[AnyItem], sample: int, seed: int) -> list[AnyItem]:
    """Return `sample` items drawn by (seed, id), or all of them."""
    return draw_sample(items, sample, seed=seed, key=lambda item: item.id) if sample else items


def labelled_item(kind: type[AnyItem], example: Example, **shown: Any) -> AnyItem:
    """Return an example as an item that hides the label, its source and its categories."""
    return kind(
        example.id, example.response, example.context, label=example.label, source=example.source,
        categories=example.categories, columns={name: str(value) for name, value in example.meta.items()}, **shown,
    )  # type: ignore[call-arg]  # fmt: skip


def perceived_example(item: StudyItem, answers: Answers[Any, Any], label: bool | None) -> Example:
    """Return an item as an example labelled by other people than its author."""
    return Example(
        item.id,
        item.response,
        item.context,
        label=label,
        label_kind="perceived",
        source=answers.source,
        language=answers.language,
    )


def sarcastic_examples(
    item: StudyItem, values: Mapping[str, str], answers: Answers[Any, Any], tally: Tally
) -> Iterator[Example]:
    """Yield the example of an item whose only question is "sarcastic or not"."""
    if IS_SARCASTIC not in values:
        tally.drop("no_majority", item.id)
        return
    yield perceived_example(item, answers, values[IS_SARCASTIC] == SARCASTIC)
