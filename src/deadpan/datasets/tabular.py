"""Base class of readers of corpora with one example per row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Reader
from deadpan.errors import DataError
from deadpan.formats.labels import BINARY, Words, label_of
from deadpan.formats.rows import Columns, TableRow, csv_rows
from deadpan.records import Example


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
                yield self.example(file, key(row), text, **{"label": label, **self.extras(file, row)})
            if self.tally.drops["unknown_label"] > unknown and not usable:
                self._refuse(file)

    def _refuse(self, file: CorpusFile) -> None:
        """Raise an error: a file without a single known label is another corpus."""
        first = next((p for p in self.tally.places["unknown_label"] if p.startswith(file.path.name)), "")
        words = ", ".join(self.words)
        raise DataError(f"{file.path}: no label in it is one of {words} (first {first}); {self.cure}")

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
        return csv_rows(file.path, columns, self.tally, self.cure)


def key(row: TableRow) -> str:
    """Return the official id of a row, or its number where it has none."""
    value = row.fields.get("id")
    return str(value).strip() if isinstance(value, str | int) and str(value).strip() else str(row.number)
