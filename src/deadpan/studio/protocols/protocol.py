"""The base class of protocols. A new protocol is one file with a subclass, and one registration.

Another package registers its class under the entry point group `deadpan.protocols`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, Literal, TypeVar

from django.utils.translation import gettext_lazy as _

from deadpan.draws import sample as draw_sample
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.study_items import StudyItem
from deadpan.formats.study_settings import StudySettings
from deadpan.records import Example, Label
from deadpan.studio.protocols.answers import Answers, I, S, Section, shares
from deadpan.studio.protocols.questions import IS_SARCASTIC, SARCASTIC, Lesson, Question, Screen, Words

T = TypeVar("T", bound=StudyItem)


@dataclass(frozen=True, slots=True)
class SurveyEntry:
    """A filled-in survey form: what is stored, why it cannot be used, and what can still be corrected."""

    answers: dict[str, Any]
    reasons: tuple[str, ...]
    correctable: tuple[str, ...]
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields of the form at which each reason is shown; those without one are shown at its top."""


class StudyProtocol(Generic[I, S]):
    """A study of one kind: its items, questions, screen, settings, report and release."""

    name: ClassVar[str] = ""
    item_type: ClassVar[type[StudyItem]] = StudyItem
    settings_type: ClassVar[type[StudySettings]] = StudySettings
    reads: ClassVar[Literal["examples", "items"]] = "examples"
    """The records items are made from: labelled Examples, or the Items of SarcBench."""
    title: Words = ""
    summary: Words = ""
    raters: int = 3
    qualification: int = 0
    """Items in the qualification round of a study that is at least three times as large."""
    survey: bool = False
    blurb: Words = ""
    lessons: Sequence[Lesson] = ()
    consent: Words = _(
        "You can stop at any time. Your answers are stored under a random name, together with the time they "
        "took. They are used for research and may be published without anything that identifies you. You get "
        "a code with which you can withdraw everything later."
    )

    def introduction(self, settings: S) -> str:
        """Return the blurb, with the numbers of this study's settings."""
        return str(self.blurb)

    # ------------------------------------------------------------ items and screens

    def items_from(self, records: Sequence[Any], *, sample: int = 0, seed: int = 0) -> list[I]:
        """Return items made from records, `sample` of them at random (0: all)."""
        return sampled([self.item_from(record) for record in records], sample, seed)

    def item_from(self, record: Any) -> I:
        """Return the item of one record."""
        raise ConfigError(f"the protocol {self.name} makes no items from {self.reads}")

    def questions(self, settings: S) -> tuple[Question, ...]:
        """Return the questions asked about every item."""
        return ()

    def screen(self, item: I, settings: S, order: str) -> Screen:
        """Return what is shown of an item. `order` decides the order of its options, always the same."""
        return Screen(item.context, item.response, (), self.questions(settings))

    def family_of(self, item: I) -> str:
        """Return a name that items share of which nobody gets two; empty if there is none."""
        return ""

    def language_of(self, item: I) -> str:
        """Return the language of an item, if only those who read it should get it."""
        return ""

    def key_of(self, item: I) -> str | None:
        """Return the right answer to the first question, if there is one."""
        return None

    # ------------------------------------------------------------ results

    def report(self, answers: Answers[I, S]) -> list[Section]:
        """Return the tables the owner sees."""
        return [section for q in self.questions(answers.settings) if (section := shares(answers, q))]

    def invalid_items(self, labels: Sequence[Label]) -> dict[str, str]:
        """Return the items whose answers say that they have no label, each with the reason."""
        return {}

    def to_examples(self, answers: Answers[I, S], tally: Tally) -> Iterator[Example]:
        """Yield what a release contains; items without a label are dropped and counted."""
        for item in answers.items.values():
            values = answers.labels.get(item.id)
            if values is None:
                tally.drop("no_majority", item.id)
            else:
                yield from self.examples_of(item, values, answers, tally)

    def examples_of(
        self, item: I, values: Mapping[str, str], answers: Answers[I, S], tally: Tally
    ) -> Iterator[Example]:
        """Yield the examples of one item, given the final answer to each question."""
        raise ConfigError(f"the protocol {self.name} gives no labels: export its answers instead")

    # ------------------------------------------------------------ surveys

    survey_template: str = ""
    survey_reasons: Mapping[str, Words] = {}
    """The message to the participant for each reason a submission cannot be used."""

    def survey_reason(self, reason: str, settings: S) -> str:
        """Return the message of a reason, with the numbers of this study's settings."""
        return str(self.survey_reasons.get(reason, reason))

    def survey_form(self, data: Any, settings: S) -> Any:
        """Return the Django form of a survey."""
        raise DataError(f"the protocol {self.name} is not a survey")

    def survey_entry(
        self,
        cleaned: Mapping[str, Any],
        settings: S,
        *,
        seconds: float,
        now: datetime,
        earlier: Sequence[Mapping[str, Any]],
    ) -> SurveyEntry:
        """Return a valid form as a submission. `earlier` holds the answers of all other submissions."""
        raise DataError(f"the protocol {self.name} is not a survey")


def sampled(items: list[T], sample: int, seed: int) -> list[T]:
    """Return `sample` items drawn by (seed, id), or all of them."""
    return draw_sample(items, sample, seed=seed, key=lambda item: item.id) if sample else items


def labelled_item(kind: type[T], example: Example, **shown: Any) -> T:
    """Return an example as an item that hides the label, its source and its categories."""
    return kind(
        example.id, example.response, example.context, label=example.label, source=example.source,
        categories=example.categories, **shown,
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
