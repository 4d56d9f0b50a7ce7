"""SARC's raw corpus, one comment per row: as released, as on Kaggle, and as deadpan builds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from deadpan.datasets.reader import CorpusFile, Reader, Release, ReleaseFile, fingerprint
from deadpan.formats.labels import BINARY, label_of
from deadpan.formats.rows import TableRow
from deadpan.formats.sarc import read_raw_rows
from deadpan.records import Example, Turn

KEPT = ("subreddit", "score", "ups", "downs", "date", "created_utc", "parent_id")

_NUMBERS = ("score", "ups", "downs", "created_utc")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
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
    """Reader of ten tab-separated columns without a header: a comment and its parent.

    Without ids, the parent comment identifies the thread, so it is the group.
    """

    release: ClassVar[Release] = _TSV

    def examples(self) -> Iterator[Example]:
        """Yield one Example per row."""
        for file in self.files():
            for row in read_raw_rows(file.path, self.tally, self.cure):
                label = label_of(row, BINARY, self.tally)
                if label is not None:
                    yield self._example(file, row, label)

    def _example(self, file: CorpusFile, row: TableRow, label: bool) -> Example:
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
    """Return a number where the field is one; the date-times of Kaggle stay text."""
    return int(text) if key in _NUMBERS and _WHOLE.fullmatch(text) else text


class SarcKaggle(SarcRaw):
    """The copy on Kaggle: a CSV of the same columns with a header; created_utc is a date-time."""

    release: ClassVar[Release] = replace(
        _TSV,
        title="SARC on Kaggle",
        url="https://www.kaggle.com/datasets/danofer/sarcasm",
        files=(
            ReleaseFile(("train-balanced-sarcasm.csv", "train-balanced-sarc.csv.gz", "kaggle-sample.csv")),
        ),
    )
