"""The answers of a study, as a protocol's report and release read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from django.utils.translation import gettext

from deadpan.formats.export import Submission
from deadpan.formats.study_items import StudyItem
from deadpan.formats.study_settings import StudySettings
from deadpan.page import Table
from deadpan.ratings import Ratings, majority, ratings_from_judgments
from deadpan.records import Judgment
from deadpan.studio.protocols.questions import Question

I = TypeVar("I", bound=StudyItem)  # noqa: E741 - the item
S = TypeVar("S", bound=StudySettings)


@dataclass(frozen=True, slots=True)
class Answers(Generic[I, S]):
    """The latest answer of each person to each question of the main items, and the items themselves."""

    judgments: Sequence[Judgment]
    settings: S
    items: Mapping[str, I] = field(default_factory=dict)
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


def shares(answers: Answers[I, S], question: Question) -> Section | None:
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
