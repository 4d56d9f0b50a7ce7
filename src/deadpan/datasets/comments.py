"""SARC's comments.json: one huge table of id -> comment, read as a stream."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from deadpan.archives import blocks, open_bytes
from deadpan.errors import DataError

CHUNK = 1 << 20
LONGEST_ENTRY = 64 << 20  # past this a missing bracket, not a long comment, is the likely cause
_GAP = re.compile(r"[ \t\r\n]*")
# It cannot match inside a string, where quotes are escaped.
_BORDER = re.compile(r'\}\s*,\s*(?="[^"\\]*"\s*:\s*\{)')
_DECODER = json.JSONDecoder()


def read_comments(path: Path, needed: Container[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, comment) of the needed ids, in the order of the file; never more than a few MB in memory."""
    for entries in read_entries(path):
        for key, value in entries.items():
            if key in needed:
                yield key, value


def read_entries(path: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """All comments, some thousand at a time."""
    with open_bytes(path) as file:
        yield from _Entries(path, file)


class _Entries:
    """The entries of a JSON object that need not fit in memory.

    Most are decoded by the block: a block is cut where one entry ends and the next begins, and its whole
    entries go through the decoder at once. What a block cannot settle is read entry by entry.
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
        """The entries up to the last border in the text at hand, or none if they are not what they seem."""
        end = len(self.text)
        while (end := self.text.rfind("}", self.at, end)) >= 0:
            if border := _BORDER.match(self.text, end):
                break
        else:
            return {}
        try:
            entries: dict[str, dict[str, Any]] = orjson.loads(f"{{{self.text[self.at : end + 1]}}}")
        except orjson.JSONDecodeError:  # also for half a surrogate, which the careful way lets pass
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
        """The next character that is not white space."""
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
