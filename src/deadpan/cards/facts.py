"""The contents of a card: facts that people write, and sizes that are counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadpan.errors import ConfigError
from deadpan.palette import word_for
from deadpan.records import Example


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Facts about a dataset that people write; sizes and label kinds are counted instead."""

    title: str
    version: str
    language: tuple[str, ...]
    licence: str
    citation: str
    summary: str
    how_made: str
    personal_data: str
    known_limits: tuple[str, ...]
    creators: tuple[str, ...] = ()
    url: str = ""
    published: str = ""

    def __post_init__(self) -> None:
        _check_said(self, ("known_limits", "language"))
        if not re.fullmatch(r"\d+\.\d+\.\d+", self.version):
            raise ConfigError(f"version needs three numbers, such as 1.0.0, got {self.version!r}")
        if self.published and not re.fullmatch(r"\d{4}-\d\d-\d\d", self.published):
            raise ConfigError(f"published needs a date, such as 2025-03-01, got {self.published!r}")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about a model that people write."""

    title: str
    version: str
    language: tuple[str, ...]
    licence: str
    citation: str
    summary: str
    data: str
    intended_use: str
    not_for: str
    where_it_fails: tuple[str, ...]
    url: str = ""

    def __post_init__(self) -> None:
        _check_said(self, ("where_it_fails", "language"))


def _check_said(facts: Any, lists: Sequence[str]) -> None:
    """Raise an error for an empty fact: a gap in a card reads as if there were nothing to say."""
    optional = {"url", "published", "creators"}
    for name in facts.__slots__:
        value = getattr(facts, name)
        empty = not value or (isinstance(value, str) and not value.strip())
        if empty and name not in optional:
            what = "one entry or more" if name in lists else "an answer"
            raise ConfigError(f"the card needs {what} for {name}: write that it is not known if it is not")


@dataclass(slots=True)
class Sizes:
    """Labels per split and label kinds, counted while the examples are written."""

    labels: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)

    def count(self, split: str, example: Example) -> None:
        """Count one example."""
        self.labels.setdefault(split, Counter())[word_for(example.label)] += 1
        self.kinds[example.label_kind] += 1

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


KINDS: Mapping[str, str] = {
    "marker": "the author's own marker, such as /s or a hashtag, removed from the text",
    "author": "the author, who was asked",
    "perceived": "other people, who judged what they read",
    "generated": "the language model that was asked to write the text",
    "": "unknown: no label, or the source does not say",
}

LICENCES = (
    "Apache-2.0", "BSD-3-Clause", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC0-1.0", "MIT",
)  # fmt: skip
"""Licences that both SPDX and Hugging Face know by this name."""


def spdx_name(licence: str) -> str:
    """Return the SPDX name of a licence; empty for one that is not among LICENCES."""
    return next((name for name in LICENCES if name.lower() == licence.strip().lower()), "")
