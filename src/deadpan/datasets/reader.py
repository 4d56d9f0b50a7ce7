"""Base classes of readers: the facts of a release, its files, and the Examples in them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from deadpan.datasets.reading import READER_OPTIONS, Reading
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import BINARY, Words, label_of
from deadpan.formats.rows import Columns, TableRow, csv_rows
from deadpan.records import Example, LabelKind, Split, Turn
from deadpan.storage import record_batches
from deadpan.text import printable, strip_markers

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """One file of a release: its names, the official one first.

    `folders` are its places in a clone of the official repository, besides the top.
    """

    names: tuple[str, ...]
    split: Split = ""
    folders: tuple[str, ...] = ()

    def within(self, folder: Path) -> Path | None:
        """Return the path of this file under a folder, by the first of its names that exists."""
        spots = (folder / sub / name for name in self.names for sub in ("", *self.folders))
        return next((spot for spot in spots if spot.is_file()), None)


@dataclass(frozen=True, slots=True)
class Release:
    """A published corpus, in the terms of the papers' comparison tables.

    `folder` is the name of its folder under a common data directory. At least one of `files` must exist;
    readers that need several together check that themselves.
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
class CorpusFile:
    """A file of a release on this disk, and its split."""

    path: Path
    split: Split


class Reader(ABC):
    """Reader of one release: subclasses set `release` and write `examples`.

    A row that cannot be used is counted (`self.tally.drop(reason, place(path, line), detail)`) and skipped; a
    file of another format raises DataError, which names the first offending line. `takes` names the fields of
    Reading that only some readers understand.
    """

    release: ClassVar[Release]
    takes: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str, data: Path | None = None, reading: Reading | None = None) -> None:
        self.name = name
        self.data = data
        self.reading = reading or Reading()
        self.strip = not self.reading.keep_markers
        self.tally = Tally()
        self._ids: Counter[str] = Counter()
        for field, whose in READER_OPTIONS.items():
            if getattr(self.reading, field) and field not in self.takes:
                option = "--column" if field == "columns" else f"--{field.replace('_', '-')}"
                raise ConfigError(f"{name} does not take {field} ({option}): it is for {whose}")

    @abstractmethod
    def examples(self) -> Iterator[Example]:
        """Yield every readable row as an Example, in the order of the files."""

    def __iter__(self) -> Iterator[Example]:
        """Yield the selected examples without markers and empty responses; the tally starts again.

        Files without a single row (empty, or a header only) are an error.
        """
        self.start()
        rows = 0
        for rows, example in enumerate(self._selected() if self.selects else self.examples(), 1):  # noqa: B007
            words = example.response.text
            text = self.clean_text(example.id, words)
            if text is words:
                yield example
            elif text is not None:
                yield replace(example, response=Turn(example.response.speaker, text))
        if not rows and not self.tally.drops and (files := self.files()):
            what = f"{files[0].path} has" if len(files) == 1 else f"the {len(files)} files have"
            raise DataError(f"{self.title}: nothing to read, {what} no rows; {self.hint}")

    @property
    def selects(self) -> bool:
        """True if only a split or a language is to be read."""
        return bool(self.reading.split or self.reading.language)

    def _selected(self) -> Iterator[Example]:
        """Yield the examples of the split and language asked for; an error if there are none."""
        split, language = self.reading.wanted_split, self.reading.language
        seen: Counter[tuple[str, str]] = Counter()
        count = 0
        for example in self.examples():
            if language and not example.language:
                example = replace(example, language=language)
            seen[example.split, example.language] += 1
            if (not split or example.split == split) and (not language or example.language == language):
                count += 1
                yield example
        if not count and seen:
            raise DataError(self._nothing_selected(seen))

    def _nothing_selected(self, seen: Counter[tuple[str, str]]) -> str:
        splits = sorted({split for split, _ in seen if split})
        if self.reading.split and self.reading.wanted_split not in splits:
            have = f"choose from {', '.join(splits)}" if splits else "it has no splits: leave out --split"
            return f"{self.title}: no example is in the split {self.reading.split!r}: {have}"
        languages = ", ".join(sorted({language for _, language in seen}))
        return f"{self.title}: no example is in the language {self.reading.language!r}: it has {languages}"

    def start(self) -> None:
        """Count from zero."""
        self.tally = Tally()
        self._ids.clear()

    def clean_text(self, id: str, text: str) -> str | None:
        """Return a response without markers; None, and counted as a drop, if nothing is left."""
        if self.strip:
            text, markers = strip_markers(text)
            if markers:
                self.tally.change("markers_stripped", markers)
                self.tally.change("responses_with_marker")
        text = printable(text)
        if text and not text.isspace():
            return text
        self.tally.drop("empty", id)
        return None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the examples as Arrow columns, for writing them without making records."""
        return record_batches(self, Example)

    def example(self, file: CorpusFile, key: object, text: str, *, speaker: str = "", **fields: Any) -> Example:
        """Return an Example of this release; its id is the corpus, the split, and the row or official id."""
        facts = {
            "label_kind": self.release.label_kind,
            "language": self.release.language,
            "source": self.name,
            "split": file.split,
        }
        id = self.unique(f"{self.name}/{file.split}-{key}" if file.split else f"{self.name}/{key}")
        return Example(id=id, response=Turn(speaker, text), **(facts | fields))

    def unique(self, id: str) -> str:
        """Return the id, numbered where a source gives the same id to several rows."""
        self._ids[id] += 1
        if self._ids[id] == 1:
            return id
        self.tally.change("repeated_ids")
        return self.unique(f"{id}#{self._ids[id]}")

    @property
    def hint(self) -> str:
        """The advice at the end of an error about a file of another format."""
        return f"is it a complete file of {self.release.title}, published at {self.release.url}?"

    def files(self) -> list[CorpusFile]:
        """Return the files of the release on this disk; none is an error that says what is expected.

        A reader whose release has no files, such as one that makes its examples, has none to find.
        """
        return find_files(self.name, self.release, self.data) if self.release.files else []

    @property
    def title(self) -> str:
        """A short name of what is read, for tables and messages."""
        return self.name


def find_files(name: str, release: Release, data: Path | None) -> list[CorpusFile]:
    """Find the files of a release: in `data`, in `data`/<folder>, or `data` itself."""
    expected = ", ".join(file.names[0] for file in release.files)
    hint = f"expected {expected} of {release.title}, published at {release.url}"
    if data is None:
        raise DataError(f"{name}: no folder to look in: give data_dir (--data-dir DIR, or DEADPAN_DATA); {hint}")
    if data.is_file():
        matches = [f for f in release.files if data.name in f.names] or [ReleaseFile((data.name,))]
        return [CorpusFile(data, matches[0].split)]
    if not data.is_dir():
        raise DataError(f"{name}: no folder {data}; {hint}")
    for folder in (data, data / release.folder):
        spots = [(file.within(folder), file.split) for file in release.files]
        hits = [CorpusFile(path, split) for path, split in spots if path]
        if hits:
            return hits
    raise DataError(f"{name}: nothing to read in {data}; {hint}")


def short_hash(*texts: str) -> str:
    """Return a short hash of some texts, used as the id of a thread that has none."""
    return hashlib.blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class TabularReader(Reader):
    """Reader of rows. Subclasses define `rows`, the `words` of the labels, and `extras`, the further fields.

    Rows have a `text` and, unless a release withholds its labels, a `label`.
    """

    words: ClassVar[Words] = BINARY

    @abstractmethod
    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the rows of one file."""

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return further fields of the Example."""
        return {}

    def examples(self) -> Iterator[Example]:
        """Yield one example per row; rows without text or with an unknown label are dropped."""
        for file in self.files():
            unknown, usable = self.tally.drops["unknown_label"], 0
            for row in self.rows(file):
                if not self.has_text(row):
                    continue
                label = label_of(row, self.words, self.tally) if "label" in row.fields else None
                if label is None and "label" in row.fields:
                    continue
                usable += 1
                text = row.text("text")
                yield self.example(file, row_key(row), text, **{"label": label, **self.extras(file, row)})
            if self.tally.drops["unknown_label"] > unknown and not usable:
                self._refuse(file)

    def _refuse(self, file: CorpusFile) -> None:
        """Raise an error: a file without a single known label is another corpus."""
        first = next((p for p in self.tally.places["unknown_label"] if p.startswith(file.path.name)), "")
        words = ", ".join(self.words)
        raise DataError(f"{file.path}: no label in it is one of {words} (first {first}); {self.hint}")

    def has_text(self, row: TableRow, column: str = "text") -> bool:
        """Return True if a row has a usable text; otherwise count it as dropped."""
        text = row.text(column)
        if not text:
            self.tally.drop("no_text", row.place)
        elif "\0" in text:
            self.tally.drop("nul_byte", row.place, repr(text))
        return bool(text) and "\0" not in text

    def csv(self, file: CorpusFile, columns: Columns) -> Iterator[TableRow]:
        """Yield the rows of a CSV of this release."""
        return csv_rows(file.path, columns, self.tally, self.hint)


def row_key(row: TableRow) -> str:
    """Return the official id of a row, or its number where it has none."""
    value = row.fields.get("id")
    return str(value).strip() if isinstance(value, str | int) and str(value).strip() else str(row.number)
