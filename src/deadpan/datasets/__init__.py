"""Readers of published corpora: files as released in, Examples out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.drops import Tally
from deadpan.records import Example
from deadpan.registry import Registry

if TYPE_CHECKING:
    from deadpan.datasets.reader import Reader, Release

READERS = Registry(
    "dataset",
    {
        "starter-en": "deadpan.datasets.starter:StarterEnglish",
        "starter-ko": "deadpan.datasets.starter:StarterKorean",
        "sarc-main": "deadpan.datasets.sarc:SarcMain",
        "sarc-main-unbalanced": "deadpan.datasets.sarc:SarcMainUnbalanced",
        "sarc-pol": "deadpan.datasets.sarc:SarcPol",
        "sarc-pol-unbalanced": "deadpan.datasets.sarc:SarcPolUnbalanced",
        "sarc-raw": "deadpan.datasets.sarc_raw:SarcRaw",
        "sarc-kaggle": "deadpan.datasets.sarc_raw:SarcKaggle",
    },
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus in memory: its examples, what its release says of itself, and what was left out."""

    name: str
    release: Release
    examples: list[Example]
    tally: Tally

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]


def open_dataset(name: str, data: Path | str | None = None, **options: Any) -> Reader:
    """A reader to go through example by example, whatever the corpus's size."""
    reader: Reader = READERS.load(name)(name, Path(data) if data is not None else None, **options)
    return reader


def read_dataset(name: str, data: Path | str | None = None, **options: Any) -> Dataset:
    """A whole corpus at once."""
    reader = open_dataset(name, data, **options)
    examples = list(reader)
    return Dataset(name, reader.release, examples, reader.tally)
