"""The items of a study, typed by protocol. Fields marked hidden are never sent to a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from deadpan.records import Turn
from deadpan.validation import encode

HIDDEN = "hidden"
OPTIONS_OF_A_QUIZ = 6

SARCASM, NOT_SARCASM, NORMAL, ABNORMAL = "sarcasm", "non-sarcasm", "normal", "abnormal"
CASUAL, CRITICISM = "casual dialogue", "direct criticism"
AWKWARD, MISFORMATTED = "contextual awkwardness", "format misalignment"
ANNOTATE_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "response": (SARCASM, NOT_SARCASM, ABNORMAL),
    "context": (NORMAL, ABNORMAL),
    "explanation": (NORMAL, ABNORMAL),
    "kind": (CASUAL, CRITICISM, AWKWARD, MISFORMATTED),
}
"""The answers of the annotate protocol, in KoCoSa's words. `kind` is asked only of responses that are not
sarcastic (its first two answers) or abnormal (its last two)."""


def hidden(default: Any = MISSING, default_factory: Callable[[], Any] | None = None) -> Any:
    """Declare a field that stays on the server."""
    metadata = {HIDDEN: True}
    if default_factory is not None:
        return field(default_factory=default_factory, metadata=metadata, kw_only=True)
    return field(default=default, metadata=metadata, kw_only=True)


@dataclass(frozen=True, slots=True)
class StudyItem:
    """Fields of every protocol's item. `check`: the expected answer per question of an attention check."""

    id: str
    response: Turn
    context: tuple[Turn, ...] = ()
    check: Mapping[str, str] = hidden(default_factory=dict)

    def problem(self) -> str:
        """Return why nobody can be asked about this item; empty if they can."""
        return "" if self.response.text.strip() else "has no text to ask about: leave it out"

    def shown_fields(self) -> dict[str, Any]:
        """Return the protocol's own fields that a browser may get, as JSON values."""
        return self._fields(is_hidden=False)

    def hidden_fields(self) -> dict[str, Any]:
        """Return the fields that stay on the server, as JSON values."""
        return self._fields(is_hidden=True)

    def _fields(self, is_hidden: bool) -> dict[str, Any]:
        """Return the fields that are filled in, apart from those every item shows."""
        common = ("id", "response", "context")
        named = [f for f in fields(self) if f.name not in common and (HIDDEN in f.metadata) is is_hidden]
        values = {f.name: encode(getattr(self, f.name)) for f in named}
        return {name: value for name, value in values.items() if value not in (None, "", [], {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateItem(StudyItem):
    """A dialogue and, where there is one, the explanation of its sarcasm."""

    explanation: str = ""
    situation: str = ""
    topic: str = hidden("")
    intended: str = hidden("")
    suspect: str = hidden("")
    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoriseItem(StudyItem):
    """A post its author called sarcastic, with the author's explanation and rephrase."""

    explanation: str = ""
    rephrase: str = ""
    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudgmentItem(StudyItem):
    """A text, with the label its author gave it."""

    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem(StudyItem):
    """A comment with its original words. `text` is the comment as the corpus has it, without the marker."""

    original: str = ""
    subreddit: str = ""
    date: str = ""
    label: bool | None = hidden(None)
    text: str = hidden("")
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())

    def problem(self) -> str:
        """Return why the item cannot be used; an audit needs the label it checks."""
        # Zero-argument super() does not work in a dataclass with slots.
        if problem := StudyItem.problem(self):
            return problem
        if self.label is None and not self.check:
            return "has no hidden label: an audit checks labels, give them"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseItem(StudyItem):
    """Two responses to one context: `answer` is the place of the sarcastic one, 0 or 1."""

    options: tuple[str, ...]
    answer: int | None = hidden(None)
    ids: tuple[str, ...] = hidden(())

    def problem(self) -> str:
        """Return why the item cannot be used."""
        if problem := StudyItem.problem(self):
            return problem
        if len(self.options) != 2 or not all(option.strip() for option in self.options):
            return "needs exactly two options that are not empty"
        if self.answer not in (0, 1) and not self.check:
            return "needs answer, 0 or 1: the place of the sarcastic option"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizItem(StudyItem):
    """A SarcBench question with six options: `answer` is the place of the best one, from 0."""

    options: tuple[str, ...]
    question: str = ""
    language: str = ""
    after: tuple[Turn, ...] = ()
    """The words or acts that followed the response."""
    answer: int | None = hidden(None)
    category: str = hidden("")
    pair: str = hidden("")
    version: str = hidden("")

    def problem(self) -> str:
        """Return why the item cannot be used."""
        if problem := StudyItem.problem(self):
            return problem
        if len(self.options) != OPTIONS_OF_A_QUIZ or not all(option.strip() for option in self.options):
            return "needs six options that are not empty"
        if self.answer not in range(OPTIONS_OF_A_QUIZ) and not self.check:
            return "needs answer, 0 to 5: the place of the best option"
        return ""
