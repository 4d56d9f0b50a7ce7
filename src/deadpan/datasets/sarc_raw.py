"""SARC's raw corpus, one comment a row: the released tab-separated form, the CSV on Kaggle, and our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from deadpan.datasets.labels import BINARY, label_of
from deadpan.datasets.reader import Found, Reader, Release, ReleaseFile, fingerprint
from deadpan.datasets.rows import Row, csv_rows, lines, tab_rows
from deadpan.records import Example, Turn

COLUMNS = (
    "label", "comment", "author", "subreddit", "score",
    "ups", "downs", "date", "created_utc", "parent_comment",
)  # fmt: skip
KEPT = ("subreddit", "score", "ups", "downs", "date", "created_utc", "parent_id")

_NUMBERS = ("score", "ups", "downs", "created_utc")
_TSV = Release(
    title="SARC raw",
    citation="Khodak, Saunshi and Vodrahalli (2018), A Large Self-Annotated Corpus for Sarcasm, LREC",
    url="https://nlp.cs.princeton.edu/SARC/",
    licence="not stated",
    language="en",
    platform="Reddit",
    label_kind="marker",
    folder="sarc_raw_politics",
    files=(ReleaseFile(("sarc.csv", "sarc.tsv", "sarc-raw.tsv")),),
    context=True,
)


class SarcRaw(Reader):
    """Ten columns between tabs, no header: a comment and the one it answers.

    Without ids, the answered text is all that tells one thread from another, so it makes the group.
    """

    release: ClassVar[Release] = _TSV

    def examples(self) -> Iterator[Example]:
        """One Example a row."""
        for file in self.found():
            for row in self.rows(file):
                label = label_of(row, BINARY, self.tally)
                if label is not None:
                    yield self._example(file, row, label)

    def rows(self, file: Found) -> Iterator[Row]:
        """The rows of one file, by its form: our own builds and Kaggle's copy have a header and commas."""
        _, first = next(lines(file.path, self.cure), (1, ""))
        if first.startswith("label,"):
            return csv_rows(file.path, {c: (c,) for c in COLUMNS}, self.tally, self.cure)
        return tab_rows(file.path, {}, self.tally, self.cure, header=COLUMNS)

    def _example(self, file: Found, row: Row, label: bool) -> Example:
        parent = row.text("parent_comment")
        thread = row.text("link_id") or fingerprint(row.text("subreddit"), parent)
        return self.example(
            file,
            row.text("id") or row.number,
            row.text("comment"),
            speaker=row.text("author"),
            context=(Turn("", parent),) if parent else (),
            label=label,
            group=thread,
            sequence=row.text("parent_id") or thread,
            meta={key: _value(key, row.text(key)) for key in KEPT if key in row.fields},
        )


def _value(key: str, text: str) -> str | int:
    """Numbers as numbers; Kaggle's date-times, which share a column with seconds, stay as they are."""
    return int(text) if key in _NUMBERS and text.removeprefix("-").isdigit() else text


class SarcKaggle(SarcRaw):
    """The copy on Kaggle: the same columns with a header, between commas, created_utc a date-time."""

    release: ClassVar[Release] = replace(
        _TSV,
        title="SARC on Kaggle",
        url="https://www.kaggle.com/datasets/danofer/sarcasm",
        files=(
            ReleaseFile(("train-balanced-sarcasm.csv", "train-balanced-sarc.csv.gz", "kaggle-sample.csv")),
        ),
    )
