"""Readers of corpora that give one example a row: what nearly all of them share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.labels import BINARY, Words, label_of
from deadpan.datasets.reader import Found, Reader
from deadpan.datasets.rows import Columns, Row, csv_rows
from deadpan.errors import DataError
from deadpan.records import Example


class TabularReader(Reader):
    """Subclasses say how rows are read, what the labels' words are, and what else a row tells.

    Rows come with `text` and, unless a release keeps its labels back, `label`.
    """

    words: ClassVar[Words] = BINARY

    @abstractmethod
    def rows(self, file: Found) -> Iterator[Row]:
        """The rows of one file."""

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """Further fields of the Example."""
        return {}

    def examples(self) -> Iterator[Example]:
        """One example a row, but for rows without text or with a label that says nothing."""
        for file in self.found():
            unknown, usable = self.tally.drops["unknown_label"], 0
            for row in self.rows(file):
                if not self.has_text(row):
                    continue
                label = label_of(row, self.words, self.tally) if "label" in row.fields else None
                if label is None and "label" in row.fields:
                    continue
                usable += 1
                text = row.text("text")
                yield self.example(file, key(row), text, **{"label": label, **self.extras(file, row)})
            if self.tally.drops["unknown_label"] > unknown and not usable:
                self._refuse(file)

    def _refuse(self, file: Found) -> None:
        """A file none of whose labels makes sense is another corpus, not a bad copy of this one."""
        first = next((p for p in self.tally.places["unknown_label"] if p.startswith(file.path.name)), "")
        words = ", ".join(self.words)
        raise DataError(f"{file.path}: no label in it is one of {words} (first {first}); {self.cure}")

    def has_text(self, row: Row, column: str = "text") -> bool:
        """Whether a row has a usable text; if not, it is counted."""
        text = row.text(column)
        if not text:
            self.tally.drop("no_text", row.place)
        elif "\0" in text:
            self.tally.drop("nul_byte", row.place, repr(text))
        return bool(text) and "\0" not in text

    def csv(self, file: Found, columns: Columns) -> Iterator[Row]:
        """The rows of a CSV of this release."""
        return csv_rows(file.path, columns, self.tally, self.cure)


def key(row: Row) -> str:
    """What a row is called within its file: the official id, or its number where it has none."""
    value = row.fields.get("id")
    return str(value).strip() if isinstance(value, str | int) and str(value).strip() else str(row.number)
