"""Records that stages exchange, and the Predictor protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

LabelKind = Literal["marker", "author", "perceived", "generated", ""]
"""Origin of a label: the author's marker (/s, hashtag), the author when asked, others, a model; or none."""

Split = Literal["train", "dev", "test", ""]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. The speaker is empty if unknown."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A response, its context, and its label: True if sarcastic, None if not labelled.

    `group` is what a split must not cross (a thread, an author); `sequence` joins the responses to one
    context (a SARC pair, a text and its rephrase). Both are empty if the source has none.

    >>> Example("1", Turn("B", "Great, more rain."), context=(Turn("A", "It rains."),), label=True).label
    True
    """

    id: str
    response: Turn
    context: tuple[Turn, ...] = ()
    label: bool | None = None
    categories: tuple[str, ...] = ()
    label_kind: LabelKind = ""
    group: str = ""
    sequence: str = ""
    split: Split = ""
    source: str = ""
    language: str = ""
    explanation: str = ""
    rephrase: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One person's answer to one question about one item. Never overwritten: a change is a new record."""

    item_id: str
    annotator: str
    question: str
    answer: str
    seconds: float
    created_at: str


@dataclass(frozen=True, slots=True)
class Label:
    """The label of an item, aggregated from several judgments of one question."""

    item_id: str
    question: str
    value: str | None
    distribution: Mapping[str, float]
    n: int
    method: str


@dataclass(frozen=True, slots=True)
class Item:
    """A SarcBench question with six options (an organic one has two to six), of which one is best."""

    id: str
    version: str
    context: tuple[Turn, ...]
    utterance: str
    question: str
    options: tuple[str, ...]
    answer: int
    category: str
    pair_id: str = ""
    checks: Mapping[str, bool] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    author: str = ""
    licence: str = ""
    canary: str = ""
    speaker: str = ""
    difficulty: str = ""
    language: str = "en"
    after: tuple[Turn, ...] = ()
    """The words or acts that followed the utterance."""
    mistakes: tuple[str, ...] = ()
    """The mistake that each option stands for, empty for the best one; none if the set does not say."""
    cue: str = ""
    """The words of the item on which the best option rests; ` ... ` joins two quotes."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A system's answer to an example. A label of None could not be read, which is not the same as wrong."""

    example_id: str
    label: bool | None
    score: float | None = None
    raw: str = ""


@runtime_checkable
class Predictor(Protocol):
    """The interface of every detector: fit, predict, save and load."""

    def fit(self, examples: Sequence[Example]) -> Self:
        """Train on labelled examples."""
        ...

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return one prediction per example, in the same order."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `load` needs; nothing is pickled."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        ...
