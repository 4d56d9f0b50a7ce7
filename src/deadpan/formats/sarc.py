"""The files of SARC (Khodak et al. 2018): the index, comments.json and the raw rows.

An index line is `ancestors|responses|labels`, ids separated by spaces, labels 1 (sarcastic) or 0.
comments.json is one object of id -> comment. A raw row is one comment with the one it replies to:
tab-separated without a header as released, or a CSV with a header as on Kaggle and as `deadpan corpus build`
writes it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from deadpan.archives import blocks, open_bytes
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.rows import TableRow, csv_rows, lines, place, tab_rows

TSV_COLUMNS = (
    "label", "comment", "author", "subreddit", "score",
    "ups", "downs", "date", "created_utc", "parent_comment",
)  # fmt: skip
"""Columns of the released raw corpus, in their order."""

RAW_COLUMNS = (*TSV_COLUMNS, "id", "parent_id", "link_id")
"""Columns of the CSV and Parquet that `deadpan corpus build` writes."""

COMMENT_FIELDS = ("text", "author", "score", "ups", "downs", "date", "created_utc", "subreddit")
"""Fields of an entry of comments.json, in their order."""

CHUNK = 1 << 20
LONGEST_ENTRY = 64 << 20  # beyond this a missing bracket, not a long comment, is the likely cause
_LABELS = {"1": True, "0": False}
_GAP = re.compile(r"[ \t\r\n]*")
# It cannot match inside a string, where quotes are escaped.
_BORDER = re.compile(r'\}\s*,\s*(?="[^"\\]*"\s*:\s*\{)')
_DECODER = json.JSONDecoder()


# ---------------------------------------------------------------- index


class IndexLine(NamedTuple):
    """One line of an index: ancestors from the post down, replies to the last of them, and their labels."""

    ancestors: tuple[str, ...]
    responses: tuple[str, ...]
    labels: tuple[bool, ...]

    @property
    def last(self) -> str:
        """The comment or post that the responses reply to."""
        return self.ancestors[-1]

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids of the line, ancestors first."""
        return (*self.ancestors, *self.responses)


@dataclass(frozen=True, slots=True)
class SarcComment:
    """A comment or post of a sequence; `label` is None for those above the replies."""

    id: str
    author: str
    text: str
    score: int | None
    created_utc: int
    label: bool | None = None


@dataclass(frozen=True, slots=True)
class SarcSequence:
    """An index line with its texts: the path from the post down, and the replies to the last of it.

    As Parquet, a sequence is one row: `read_records(path, SarcSequence)`. `split` is train or test, and empty in
    sequences that no benchmark has divided.
    """

    id: str
    subreddit: str
    split: str
    ancestors: tuple[SarcComment, ...]
    replies: tuple[SarcComment, ...]

    @classmethod
    def of(cls, line: IndexLine, entries: Mapping[str, Mapping[str, Any]], split: str = "") -> SarcSequence:
        """Return a line with the entries of comments.json."""

        def comment(id: str, label: bool | None = None) -> SarcComment:
            one = entries[id]
            return SarcComment(id, one["author"], one["text"], one["score"], one["created_utc"], label)

        above = tuple(map(comment, line.ancestors))
        replies = tuple(map(comment, line.responses, line.labels))
        return cls(line.last, entries[line.responses[0]]["subreddit"], split, above, replies)


def format_index_line(ancestors: Sequence[str], responses: Sequence[str], labels: Sequence[bool | int]) -> str:
    """Return a line of an index, with its newline."""
    marks = " ".join("1" if label else "0" for label in labels)
    return f"{' '.join(ancestors)}|{' '.join(responses)}|{marks}\n"


def read_index(path: Path, tally: Tally | None = None) -> Iterator[IndexLine]:
    """Yield the lines of an index.

    A first line of another format is an error. Later ones are counted in `tally`, or errors without it.
    """
    labels_of = cache(_labels)  # a few spellings, a million lines
    made = partial(tuple.__new__, IndexLine)  # faster than IndexLine(...)
    number = 0
    with open_bytes(path) as file:
        for block in _blocks_of_lines(file):
            for line in block:
                number += 1
                try:
                    ancestors, replies, marks = line.split("|")
                    responses, labels = tuple(replies.split(" ")), labels_of(marks)
                except (ValueError, KeyError):
                    responses, labels = (), (False,)
                if len(responses) == len(labels):
                    # Most contexts are the post alone.
                    above = tuple(ancestors.split(" ")) if " " in ancestors else (ancestors,)
                    yield made((above, responses, labels))
                elif line or number == 1:
                    _bad_line(path, number, line, tally)


def _bad_line(path: Path, number: int, line: str, tally: Tally | None) -> None:
    if tally is None or number == 1:
        form = "ancestors|responses|labels, ids separated by spaces"
        raise DataError(f"{path}:{number}: not a SARC index: expected {form}")
    tally.drop("bad_row", place(path, number), repr(line[:80]))


def _blocks_of_lines(file: IO[bytes]) -> Iterator[list[str]]:
    """Yield lines a block at a time: reading compressed files line by line is several times slower."""
    rest = b""
    for block in blocks(file):
        whole, mark, tail = block.rpartition(b"\n")
        if not mark:
            rest += tail
            continue
        yield (rest + whole).decode("ascii", "replace").replace("\r", "").split("\n")
        rest = tail
    if rest:
        yield [rest.decode("ascii", "replace").removesuffix("\r")]


def _labels(text: str) -> tuple[bool, ...]:
    return tuple(_LABELS[mark] for mark in text.split(" "))


# ---------------------------------------------------------------- raw rows


def read_raw_rows(path: Path, tally: Tally, hint: str) -> Iterator[TableRow]:
    """Yield the rows of the raw corpus: a CSV if its header says so, otherwise tab-separated."""
    _, first = next(lines(path, hint), (1, ""))
    if first.startswith("label,"):
        return csv_rows(path, {column: (column,) for column in TSV_COLUMNS}, tally, hint)
    return tab_rows(path, {}, tally, hint, header=TSV_COLUMNS)


# ---------------------------------------------------------------- comments.json


def read_comments(path: Path, needed: Container[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (id, comment) of the needed ids, or of all, in file order; holds only a few MB in memory."""
    for entries in read_comment_blocks(path):
        for key, value in entries.items():
            if needed is None or key in needed:
                yield key, value


def read_comment_blocks(path: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield all comments, some thousand at a time."""
    with open_bytes(path) as file:
        yield from _Entries(path, file)


def comments_beside(name: str, index: Path) -> Path:
    """Return the comments.json, compressed or not, that lies beside an index."""
    for spelling in ("comments.json", "comments.json.bz2", "comments.json.gz", "comments.json.xz"):
        if (index.parent / spelling).is_file():
            return index.parent / spelling
    raise DataError(f"{name}: no comments.json beside {index}: it is part of the same release and holds the texts")


class _Entries:
    """Entries of a JSON object that need not fit in memory.

    Most are decoded by the block: a block is cut where one entry ends and the next begins, and its complete
    entries are decoded at once. The rest is decoded entry by entry.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.blocks = blocks(file, CHUNK)
        self.text = ""
        self.at = 0
        self.read = 0
        self.ended = False
        self.decode = codecs.getincrementaldecoder("utf-8")().decode

    def __iter__(self) -> Iterator[dict[str, dict[str, Any]]]:
        if self._next() != "{":
            raise DataError(f"{self.path}: not a comments.json: expected an object of id -> comment")
        self.at += 1
        if self._next() == "}":
            return
        while True:
            yield self._whole_entries()
            yield self._entry()
            mark = self._next()
            if mark == "}":
                return
            if mark != ",":
                raise self._broken("expected a comma between comments")
            self.at += 1

    def _whole_entries(self) -> dict[str, dict[str, Any]]:
        """Return the entries up to the last border in the buffer, or none if they do not decode."""
        end = len(self.text)
        while (end := self.text.rfind("}", self.at, end)) >= 0:
            if border := _BORDER.match(self.text, end):
                break
        else:
            return {}
        try:
            entries: dict[str, dict[str, Any]] = orjson.loads(f"{{{self.text[self.at : end + 1]}}}")
        except orjson.JSONDecodeError:  # also for a lone surrogate, which json accepts
            return {}
        if not all(isinstance(value, dict) for value in entries.values()):
            return {}
        self.at = border.end()
        return entries

    def _entry(self) -> dict[str, dict[str, Any]]:
        key = self._value()
        if not isinstance(key, str) or self._next() != ":":
            raise self._broken("expected an id and a colon")
        self.at += 1
        value = self._value()
        if not isinstance(value, dict):
            raise self._broken(f"expected an object for comment {key!r}")
        return {key: value}

    def _next(self) -> str:
        """Return the next character that is not white space."""
        while True:
            self.at = _GAP.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            self._more()

    def _value(self) -> Any:
        while True:
            self._next()
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
                return value
            except json.JSONDecodeError as bad:
                if len(self.text) - self.at > LONGEST_ENTRY:
                    raise self._broken(bad.msg) from None
                self._more()
            except (ValueError, RecursionError) as bad:  # thousands of digits or of brackets
                raise self._broken(str(bad)) from None

    def _more(self) -> None:
        if self.ended:
            raise DataError(f"{self.path}: cut off after {self.read:,} bytes; fetch it again")
        chunk = next(self.blocks, b"")
        self.ended = not chunk
        self.read += len(chunk)
        try:
            self.text = self.text[self.at :] + self.decode(chunk, self.ended)
        except UnicodeDecodeError:
            raise self._broken("not UTF-8 text") from None
        self.at = 0

    def _broken(self, why: str) -> DataError:
        place = self.read - len(self.text) + self.at
        return DataError(f"{self.path}: not a comments.json near byte {place:,}: {why}")
