"""Every record that crosses a folder, and the Predictor protocol. Nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

LabelKind = Literal["marker", "author", "perceived", "generated", ""]
"""Who said so: the author's /s or hashtag, the author when asked, others, a model. Empty: nobody."""

Split = Literal["train", "dev", "test", ""]


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's words. The speaker is empty where the source does not tell."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    """One Reddit comment, as the monthly dumps give it."""

    id: str
    parent_id: str
    link_id: str
    author: str
    subreddit: str
    body: str
    score: int
    ups: int
    downs: int
    created_utc: int


@dataclass(frozen=True, slots=True)
class Example:
    """A response, what came before it, and whether it is sarcastic.

    `group` is what a split may not cross (a thread, an author); `sequence` joins the responses to one
    context (a SARC pair, a text and its rephrase). Both are empty where the source has none.
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
    """One person's answer to one question about one item. Never overwritten: a change is a new row."""

    item_id: str
    annotator: str
    question: str
    answer: str
    seconds: float
    created_at: str


@dataclass(frozen=True, slots=True)
class Label:
    """What several judgments of one question come to."""

    item_id: str
    question: str
    value: str | None
    distribution: Mapping[str, float]
    n: int
    method: str


@dataclass(frozen=True, slots=True)
class Item:
    """A SarcBench question: six options, one of them best."""

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


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system said of an example. A label of None was not readable, which is not the same as wrong."""

    example_id: str
    label: bool | None
    score: float | None = None
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One system on one task: enough to know what was measured and to do it again."""

    id: str
    task: str
    task_hash: str
    system: str
    config: Mapping[str, Any]
    seed: int
    scores: Mapping[str, float]
    n_unread: int
    revision: str
    started_at: str


@runtime_checkable
class Predictor(Protocol):
    """What every detector can do."""

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn from labelled examples."""
        ...

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """One prediction an example, in the same order."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `load` needs, nothing pickled."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        ...
