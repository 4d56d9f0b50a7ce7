"""Rows of text files, each with its place: CSV, tab-separated, JSON lines and whole JSON documents.

A row that cannot be read is counted and skipped. A file of another format (binary, cut short, without
its columns, or with no readable row at all) raises DataError, which names the first offending line.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from deadpan.archives import open_bytes
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.text import plural, printable

Columns = Mapping[str, tuple[str, ...]]
"""deadpan's name of a column -> the names files use. All are required; other columns keep their names."""

LONGEST_FIELD = 8 << 20
"""Characters of a cell; a longer one is refused, since a text of 300 MB would take gigabytes to read."""
LONGEST_LINE = 64 << 20
"""Bytes of a line of a table."""
# Bytes by which an encoding is guessed.
_SAMPLE = 4000
INDEX = ("", "unnamed: 0")  # the column pandas writes for the index of a table


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a file: its fields, its number among the rows (bad ones included) and its place."""

    fields: Mapping[str, Any]
    number: int
    place: str

    def text(self, column: str) -> str:
        """Return a field as text without surrounding white space; empty if it is missing or not text."""
        value = self.fields.get(column)
        return value.strip() if isinstance(value, str) else ""


@dataclass(slots=True)
class _RowCounter:
    """Count the bad rows of one file; refuse a file that has no good one."""

    path: Path
    tally: Tally
    hint: str
    number: int = 0
    good: bool = False
    first: str = ""

    def row(self, fields: Mapping[str, Any], line: int) -> TableRow:
        """Return the next row, a good one."""
        self.number += 1
        self.good = True
        return TableRow(fields, self.number, place(self.path, line))

    def bad(self, line: int, detail: str) -> None:
        """Count the next row, a bad one."""
        self.number += 1
        self.first = self.first or f"{self.path}:{line}: {detail}"
        self.tally.drop("bad_row", place(self.path, line), detail)

    def end(self) -> None:
        """Raise an error if no row could be read."""
        if self.first and not self.good:
            raise DataError(f"{self.first}, and no other row is readable; {self.hint}")


# ---------------------------------------------------------------- lines


def lines(path: Path, hint: str, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text, compressed or not; UTF-16 is known by its byte order mark."""
    with open_bytes(path) as file:
        start: bytes = cast("Any", file).peek(4)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield from _utf16_lines(path, file, hint)
            return
        for number, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(raw) > LONGEST_LINE:
                raise DataError(
                    f"{path}:{number}: a line of more than {LONGEST_LINE >> 20} MB: shorten its texts; {hint}"
                )
            try:
                line = raw.decode(encoding)
            except UnicodeDecodeError as bad:
                why = _not_text(raw + file.read(_SAMPLE), encoding, bad.reason)
                raise DataError(f"{path}:{number}: {why}; {hint}") from None
            if number == 1:
                if line.rstrip("\r\n").count("\r") > 1:
                    raise DataError(f"{path}:1: lines end in a carriage return alone: save it with line feeds; {hint}")
                line = line.removeprefix("\ufeff")
            yield number, line


def _not_text(raw: bytes, encoding: str, reason: str) -> str:
    """Return why a line could not be decoded, and what to do."""
    probable = _probable_encoding(raw)
    tried = "UTF-8" if encoding == "utf-8" else f"UTF-8 or {encoding.upper()}"
    hint = "" if _CODECS.get(probable) == encoding else f"; probably {probable}"
    return f"not {tried} text ({reason}{hint}): save it as UTF-8"


def _utf16_lines(path: Path, file: IO[bytes], hint: str) -> Iterator[tuple[int, str]]:
    try:
        with io.TextIOWrapper(file, encoding="utf-16", newline="\n") as text:
            yield from enumerate(text, 1)
    except UnicodeDecodeError as bad:
        raise DataError(f"{path}: not complete UTF-16 text ({bad.reason}): save it as UTF-8; {hint}") from None


def find_encoding(path: Path) -> str:
    """Return the encoding of a text: utf-8, cp949 (Korean Windows) or cp1252 (Western Windows).

    UTF-16 and binary data are left to `lines`, which knows the first and refuses the second.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        start: bytes = cast("Any", file).peek(4)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-8"
        for block in iter(partial(file.read, 1 << 20), b""):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as bad:
                around = bad.object[max(bad.start - 1000, 0) : bad.start + _SAMPLE]
                probable = _probable_encoding(around)
                return _CODECS.get(probable, "utf-8")
    return "utf-8"


_BINARY = "binary data, or several encodings in one file"
_CODECS = {"CP949, Korean": "cp949", "Windows-1252 or Latin-1": "cp1252"}


def _probable_encoding(raw: bytes) -> str:
    """Return the name of the encoding that bytes which are not UTF-8 are probably in."""
    if b"\0" not in raw and _looks_korean(raw):
        return "CP949, Korean"
    western = [char for char in raw.decode("cp1252", "replace") if not char.isascii()]
    if b"\0" in raw or sum(char in _WESTERN for char in western) <= 0.9 * len(western):
        return _BINARY
    return "Windows-1252 or Latin-1"


def _looks_korean(raw: bytes) -> bool:
    """Return True if the bytes are mostly Hangul in CP949.

    Japanese and Chinese bytes read as CP949 are Hangul too, but syllables that nobody uses, or Hanja.
    """
    signs = [char for char in raw.decode("cp949", "replace") if not char.isascii()]
    hangul = [char for char in signs if "\uac00" <= char <= "\ud7a3"]
    rare = sum(len(char.encode("euc_kr", "ignore")) != 2 for char in hangul)  # others are spelled out
    hanja = sum("\u4e00" <= char <= "\u9fff" for char in signs)
    damaged = signs.count("\ufffd") > max(len(signs) / 10, 2)
    return not damaged and len(hangul) > len(signs) / 2 and max(rare, hanja) <= len(hangul) / 10


# Letters and signs that text in Windows-1252 is likely to hold.
_WESTERN = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüœŒšŠžŽ€£§©®°´·«»¡¿‘’“”„–—…•™½²")


# ---------------------------------------------------------------- tables


def csv_rows(
    path: Path,
    columns: Columns,
    tally: Tally,
    hint: str,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    exact: bool = False,
) -> Iterator[TableRow]:
    """Yield the rows of a CSV with a header; a row's place is the line it starts on.

    `exact` keeps the names of the columns as the file spells them, and rows that end early.
    """
    csv.field_size_limit(LONGEST_FIELD)
    rows = _RowCounter(path, tally, hint)
    text = (line for _, line in lines(path, hint, encoding))
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    names: list[str] = []
    while True:
        start = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as bad:
            if not names or "unexpected end" in str(bad):  # a quote that never closes swallows the rest
                why = f"not CSV from here on ({bad}): close the quotation mark, or save the file again"
                raise DataError(f"{path}:{start}: {why}; {hint}") from None
            if "field larger" in str(bad):
                raise DataError(
                    f"{path}:{start}: a cell of more than {LONGEST_FIELD >> 20} MB: shorten it; {hint}"
                ) from None
            rows.bad(start, str(bad))
            continue
        if not fields:
            continue
        if not names:
            names = unique_names(fields) if exact else header_names(path, start, fields, columns, hint)
            continue
        fields = _fitted(fields, len(names), pad=exact)
        if len(fields) != len(names):
            rows.bad(start, f"{plural(len(fields), 'field')} where the header has {len(names)}")
        else:
            yield rows.row(dict(zip(names, fields, strict=True)), start)
    if not names:
        raise DataError(f"{path}:1: an empty file; {hint}")
    rows.end()


def _fitted(fields: list[str], n: int, *, pad: bool) -> list[str]:
    """Return the fields of a row without the empty ones that spreadsheets write behind it.

    `pad` adds empty fields to a row that ends early, which spreadsheets write too.
    """
    if len(fields) > n and not any(field.strip() for field in fields[n:]):
        return fields[:n]
    return [*fields, *[""] * (n - len(fields))] if pad else fields


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names of a header as they are, a repeated or empty one with its number behind it."""
    found: list[str] = []
    for place, name in enumerate(names, 1):
        given = name or f"column {place}"
        found.append(given if given not in found else f"{given} ({place})")
    return found


def column_names(path: Path, hint: str) -> list[str]:
    """Return the column names of a CSV, for releases whose files differ in them."""
    csv.field_size_limit(LONGEST_FIELD)
    try:
        first = next(csv.reader(line for _, line in lines(path, hint) if line.strip()), [])
    except csv.Error as bad:
        raise DataError(f"{path}:1: the header is not CSV ({bad}): save the file again; {hint}") from None
    return header_names(path, 1, first, {}, hint)


def tab_rows(
    path: Path, columns: Columns, tally: Tally, hint: str, *, header: Sequence[str] = ()
) -> Iterator[TableRow]:
    """Yield the rows of a tab-separated file without quoting; only the last field may hold tabs."""
    rows = _RowCounter(path, tally, hint)
    names = list(header)
    for number, line in lines(path, hint):
        fields = line.rstrip("\r\n").split("\t", max(len(names) - 1, -1))
        if not line.strip():
            continue
        if not names:
            names = header_names(path, number, fields, columns, hint)
        elif len(fields) != len(names):
            rows.bad(number, f"{plural(len(fields), 'field')} where there should be {len(names)}")
        else:
            yield rows.row(dict(zip(names, fields, strict=True)), number)
    if not names:
        raise DataError(f"{path}:1: an empty file; {hint}")
    rows.end()


def header_names(path: Path, line: int, header: Sequence[str], columns: Columns, hint: str) -> list[str]:
    """Return deadpan's names for the columns of a header; a missing column is an error."""
    spelled = [name.strip().lower() for name in header]
    names = ["id" if name in INDEX else name for name in spelled]
    for ours, spellings in columns.items():
        theirs = next((s for s in spellings if s in names), None)
        if theirs is None:
            named = ", ".join(name.strip() for name in header)[:200]
            has = "".join(char if char.isprintable() else "\ufffd" for char in named)
            raise DataError(f"{path}:{line}: no column {spellings[0]!r} in the header ({has}); {hint}")
        names[names.index(theirs)] = ours
    return unique_names(names) if len(set(names)) < len(names) else names


# ---------------------------------------------------------------- JSON


def json_lines(path: Path, keys: Columns, tally: Tally, hint: str, *, encoding: str = "utf-8") -> Iterator[TableRow]:
    """Yield the objects of a JSON lines file that have all the keys."""
    rows = _RowCounter(path, tally, hint)
    number = 0
    for number, line in lines(path, hint, encoding):
        if not line.strip():
            continue
        try:
            fields = _loads(line)
        except (ValueError, RecursionError) as bad:
            rows.bad(number, f"not a JSON line ({bad})")
            continue
        if not isinstance(fields, dict):
            rows.bad(number, "not a JSON object")
            continue
        missing = next((theirs[0] for theirs in keys.values() if not any(t in fields for t in theirs)), None)
        if missing:
            rows.bad(number, f"no key {missing!r}")
            continue
        renamed = {ours: fields[t] for ours, theirs in keys.items() for t in theirs if t in fields}
        yield rows.row(fields | renamed, number)
    if not number:
        raise DataError(f"{path}:1: an empty file; {hint}")
    rows.end()


def json_document(path: Path, hint: str) -> Any:
    """Return the value of a JSON file."""
    text = "".join(line for _, line in lines(path, hint))
    try:
        return _loads(text)
    except json.JSONDecodeError as bad:
        raise DataError(f"{path}:{bad.lineno}: not JSON, or cut short ({bad.msg}); {hint}") from None
    except (ValueError, RecursionError) as bad:
        raise DataError(f"{path}:1: not JSON that can be read ({bad}); {hint}") from None


def _loads(text: str) -> Any:
    """Parse JSON and replace escaped lone surrogates, which could not be written as UTF-8."""
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


# ---------------------------------------------------------------- places


def place(path: Path, line: int) -> str:
    """Return the place of a row as editors write it, file:line."""
    return f"{path.name}:{line}"
