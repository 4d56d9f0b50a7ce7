"""What every reader of a published corpus is: facts of the release, its files, Examples out of them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.records import Example, LabelKind, Split, Turn
from deadpan.storage import record_batches
from deadpan.text import printable, strip_markers

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """One file of a release: the names it goes by, the official one first.

    `folders` are where it lies in a clone of the official repository, besides the top.
    """

    names: tuple[str, ...]
    split: Split = ""
    folders: tuple[str, ...] = ()

    def within(self, folder: Path) -> Path | None:
        """This file under a folder, by the first of its names that is there."""
        spots = (folder / sub / name for name in self.names for sub in ("", *self.folders))
        return next((spot for spot in spots if spot.is_file()), None)


@dataclass(frozen=True, slots=True)
class Release:
    """A published corpus, in the terms of the papers' comparison tables.

    `folder` is what its folder is called under a common data directory. At least one of `files` must be
    there; readers that need several together say so themselves.
    """

    title: str
    citation: str
    url: str
    licence: str
    language: str
    platform: str
    label_kind: LabelKind
    folder: str
    files: tuple[ReleaseFile, ...]
    context: bool = False
    explanation: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a release on this disk."""

    path: Path
    split: Split


class Reader(ABC):
    """Reads one release: subclasses set `release` and write `examples`.

    A row that cannot be used is counted (`self.tally.drop(reason, place(path, line), detail)`) and passed
    over; a file that is not what it says raises DataError naming the first offending line.
    """

    release: ClassVar[Release]

    def __init__(self, name: str, data: Path | None = None, *, strip: bool = True) -> None:
        self.name = name
        self.data = data
        self.strip = strip
        self.tally = Tally()
        self._ids: Counter[str] = Counter()

    @abstractmethod
    def examples(self) -> Iterator[Example]:
        """Every readable row as an Example, in the order of the files."""

    def __iter__(self) -> Iterator[Example]:
        """The examples, label-bearing tags stripped and empty responses dropped; the tally starts anew."""
        self.start()
        for example in self.examples():
            words = example.response.text
            text = self.clean_text(example.id, words)
            if text is words:
                yield example
            elif text is not None:
                yield replace(example, response=Turn(example.response.speaker, text))

    def start(self) -> None:
        """Count from nothing."""
        self.tally = Tally()
        self._ids.clear()

    def clean_text(self, id: str, text: str) -> str | None:
        """A response without what tells its label; None, and counted, if nothing is left."""
        if self.strip:
            text, found = strip_markers(text)
            if found:
                self.tally.change("markers_stripped", found)
                self.tally.change("responses_with_marker")
        text = printable(text)
        if text and not text.isspace():
            return text
        self.tally.drop("empty", id)
        return None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The examples as Arrow columns, for those who only pass them on."""
        return record_batches(self, Example)

    def example(self, file: Found, key: object, text: str, *, speaker: str = "", **fields: Any) -> Example:
        """An Example of this release; its id is the corpus, the split, and the row or official id."""
        facts = {
            "label_kind": self.release.label_kind,
            "language": self.release.language,
            "source": self.name,
            "split": file.split,
        }
        id = self.unique(f"{self.name}/{file.split}-{key}" if file.split else f"{self.name}/{key}")
        return Example(id=id, response=Turn(speaker, text), **(facts | fields))

    def unique(self, id: str) -> str:
        """The id itself, or marked as the second, third... where a source gives one id to several rows."""
        self._ids[id] += 1
        if self._ids[id] == 1:
            return id
        self.tally.change("repeated_ids")
        return self.unique(f"{id}#{self._ids[id]}")

    @property
    def cure(self) -> str:
        """What to do about a file that is not what it says."""
        return f"is it a whole file of {self.release.title}, published at {self.release.url}?"

    def found(self) -> list[Found]:
        """The files of the release that are on this disk; none is an error that says what is expected."""
        return find(self.name, self.release, self.data)


def find(name: str, release: Release, data: Path | None) -> list[Found]:
    """Look for a release's files in DATA, in DATA/<folder>, or take DATA itself if it is one of them."""
    expected = ", ".join(file.names[0] for file in release.files)
    cure = f"expected {expected} of {release.title}, published at {release.url}"
    if data is None:
        raise DataError(
            f"{name}: say where its files are by --data DIR (detect: --data-dir DIR) or DEADPAN_DATA; {cure}"
        )
    if data.is_file():
        matches = [f for f in release.files if data.name in f.names] or [ReleaseFile((data.name,))]
        return [Found(data, matches[0].split)]
    if not data.is_dir():
        raise DataError(f"{name}: no folder {data}; {cure}")
    for folder in (data, data / release.folder):
        spots = [(file.within(folder), file.split) for file in release.files]
        hits = [Found(path, split) for path, split in spots if path]
        if hits:
            return hits
    raise DataError(f"{name}: nothing to read in {data}; {cure}")


def place(path: Path, line: int) -> str:
    """Where a row is, as people and editors write it."""
    return f"{path.name}:{line}"


def fingerprint(*texts: str) -> str:
    """A short name for some texts, the same on every machine: what a thread without an id is called."""
    return hashlib.blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
