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
        "isarcasm": "deadpan.datasets.isarcasm:ISarcasm",
        "isarcasm_eval-en": "deadpan.datasets.isarcasm_eval:EnglishA",
        "isarcasm_eval-en-b": "deadpan.datasets.isarcasm_eval:EnglishB",
        "isarcasm_eval-en-c": "deadpan.datasets.isarcasm_eval:EnglishC",
        "isarcasm_eval-ar": "deadpan.datasets.isarcasm_eval:ArabicA",
        "isarcasm_eval-ar-c": "deadpan.datasets.isarcasm_eval:ArabicC",
        "isarcasm_eval-votes": "deadpan.datasets.isarcasm_eval:Votes",
        "semeval2018-a": "deadpan.datasets.semeval2018:TaskA",
        "semeval2018-b": "deadpan.datasets.semeval2018:TaskB",
        "riloff": "deadpan.datasets.riloff:Riloff",
        "ptacek": "deadpan.datasets.ptacek:Ptacek",
        "ghosh_veale": "deadpan.datasets.ghosh_veale:GhoshVeale",
        "news_headlines": "deadpan.datasets.news_headlines:NewsHeadlines",
        "kocasm": "deadpan.datasets.kocasm:Kocasm",
        "kocosa": "deadpan.datasets.kocosa:KoCoSa",
        "arsarcasm_v2": "deadpan.datasets.arsarcasm:ArSarcasm",
        "figlang2020-twitter": "deadpan.datasets.figlang:Twitter",
        "figlang2020-reddit": "deadpan.datasets.figlang:Reddit",
        "mustard": "deadpan.datasets.mustard:Mustard",
        "oraby-gen": "deadpan.datasets.oraby:Generic",
        "oraby-hyp": "deadpan.datasets.oraby:Hyperbole",
        "oraby-rq": "deadpan.datasets.oraby:RhetoricalQuestion",
        "table": "deadpan.datasets.table:Table",
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
