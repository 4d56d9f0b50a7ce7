"""Rows of released files, each with its place: CSV, tab-separated, JSON lines and whole JSON documents.

A row that cannot be read is counted and passed over. A file that is not what it says (not UTF-8, cut
short, without its columns, or with no readable row at all) raises DataError naming the offending line.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.archives import open_bytes
from deadpan.datasets.reader import place
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.text import printable

Columns = Mapping[str, tuple[str, ...]]
"""What deadpan calls a column -> how files spell it. All are required; others keep their own name."""

LONGEST_FIELD = 2**31 - 1
INDEX = ("", "unnamed: 0")  # how pandas leaves a table's index behind


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file: its fields, its number among the rows (bad ones counted) and its place."""

    fields: Mapping[str, Any]
    number: int
    place: str

    def text(self, column: str) -> str:
        """A field as text without outer white space; empty where it is missing or no text."""
        value = self.fields.get(column)
        return value.strip() if isinstance(value, str) else ""


@dataclass(slots=True)
class Watch:
    """Counts the bad rows of one file, and tells a file with a few from a file of nothing else."""

    path: Path
    tally: Tally
    cure: str
    number: int = 0
    good: bool = False
    first: str = ""

    def row(self, fields: Mapping[str, Any], line: int) -> Row:
        """The next row, which is good."""
        self.number += 1
        self.good = True
        return Row(fields, self.number, place(self.path, line))

    def bad(self, line: int, detail: str) -> None:
        """The next row, which is not."""
        self.number += 1
        self.first = self.first or f"{self.path}:{line}: {detail}"
        self.tally.drop("bad_row", place(self.path, line), detail)

    def end(self) -> None:
        """Refuse a file in which nothing could be read."""
        if self.first and not self.good:
            raise DataError(f"{self.first}, and no other row is readable; {self.cure}")


# ---------------------------------------------------------------- lines


def lines(path: Path, cure: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a UTF-8 text, packed or not; a byte order mark is taken off."""
    with open_bytes(path) as file:
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as bad:
                raise DataError(f"{path}:{number}: not UTF-8 text ({bad.reason}); {cure}") from None
            yield number, line.removeprefix("\ufeff") if number == 1 else line


# ---------------------------------------------------------------- tables


def csv_rows(path: Path, columns: Columns, tally: Tally, cure: str, *, delimiter: str = ",") -> Iterator[Row]:
    """The rows of a CSV with a header. A row's place is the line it starts on: fields may hold newlines."""
    csv.field_size_limit(LONGEST_FIELD)
    watch = Watch(path, tally, cure)
    reader = csv.reader((line for _, line in lines(path, cure)), delimiter=delimiter, strict=True)
    names: list[str] = []
    while True:
        start = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as bad:
            if not names or "unexpected end" in str(bad):  # a quote that never closes swallows the rest
                raise DataError(f"{path}:{start}: not CSV from here on ({bad}); {cure}") from None
            watch.bad(start, str(bad))
            continue
        if not fields:
            continue
        if not names:
            names = header_names(path, start, fields, columns, cure)
        elif len(fields) != len(names):
            watch.bad(start, f"{len(fields)} fields where the header has {len(names)}")
        else:
            yield watch.row(dict(zip(names, fields, strict=True)), start)
    if not names:
        raise DataError(f"{path}:1: an empty file; {cure}")
    watch.end()


def column_names(path: Path, cure: str) -> list[str]:
    """The columns of a CSV, for releases whose files differ by them."""
    first = next(csv.reader(line for _, line in lines(path, cure) if line.strip()), [])
    return header_names(path, 1, first, {}, cure)


def tab_rows(
    path: Path, columns: Columns, tally: Tally, cure: str, *, header: Sequence[str] = ()
) -> Iterator[Row]:
    """The rows of a tab-separated file in which a quote is a quote: one line a row, the last field open."""
    watch = Watch(path, tally, cure)
    names = list(header)
    for number, line in lines(path, cure):
        fields = line.rstrip("\r\n").split("\t", max(len(names) - 1, -1))
        if not line.strip():
            continue
        if not names:
            names = header_names(path, number, fields, columns, cure)
        elif len(fields) != len(names):
            watch.bad(number, f"{len(fields)} fields where there should be {len(names)}")
        else:
            yield watch.row(dict(zip(names, fields, strict=True)), number)
    if not names:
        raise DataError(f"{path}:1: an empty file; {cure}")
    watch.end()


def header_names(path: Path, line: int, header: Sequence[str], columns: Columns, cure: str) -> list[str]:
    """deadpan's names for a header's columns; one that is missing is an error listing what there is."""
    spelled = [name.strip().lower() for name in header]
    names = ["id" if name in INDEX else name for name in spelled]
    for ours, spellings in columns.items():
        theirs = next((s for s in spellings if s in names), None)
        if theirs is None:
            has = ", ".join(name.strip() for name in header)[:200]
            raise DataError(f"{path}:{line}: no column {spellings[0]!r} in the header ({has}); {cure}")
        names[names.index(theirs)] = ours
    return names


# ---------------------------------------------------------------- JSON


def json_lines(path: Path, keys: Columns, tally: Tally, cure: str) -> Iterator[Row]:
    """The objects of a file of JSON lines, those that hold all the keys."""
    watch = Watch(path, tally, cure)
    number = 0
    for number, line in lines(path, cure):
        if not line.strip():
            continue
        try:
            fields = _loads(line)
        except (ValueError, RecursionError) as bad:
            watch.bad(number, f"not a JSON line ({bad})")
            continue
        if not isinstance(fields, dict):
            watch.bad(number, "not a JSON object")
            continue
        missing = next((theirs[0] for theirs in keys.values() if not any(t in fields for t in theirs)), None)
        if missing:
            watch.bad(number, f"no key {missing!r}")
            continue
        renamed = {ours: fields[t] for ours, theirs in keys.items() for t in theirs if t in fields}
        yield watch.row(fields | renamed, number)
    if not number:
        raise DataError(f"{path}:1: an empty file; {cure}")
    watch.end()


def json_document(path: Path, cure: str) -> Any:
    """A file that is one JSON value."""
    text = "".join(line for _, line in lines(path, cure))
    try:
        return _loads(text)
    except json.JSONDecodeError as bad:
        raise DataError(f"{path}:{bad.lineno}: not JSON, or cut short ({bad.msg}); {cure}") from None
    except (ValueError, RecursionError) as bad:
        raise DataError(f"{path}:1: not JSON that can be read ({bad}); {cure}") from None


def _loads(text: str) -> Any:
    """JSON, half characters replaced: an escaped lone surrogate could not be written out again."""
    value = json.loads(text)
    return _mended(value) if "\\ud" in text or "\\uD" in text else value


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): _mended(item) for key, item in value.items()}
    return value
