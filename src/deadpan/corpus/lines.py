"""The lines of a dump: handed over part by part, or single ones looked up again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from deadpan.corpus.decoders import BLOCK, Decoder, Decoders
from deadpan.corpus.spool import Spool
from deadpan.errors import DataError

LONGEST_LINE = 4 << 20  # half of a read buffer of DuckDB's; the longest of Reddit's are a few hundred kB
LOOKED_AT = 1 << 22  # bytes in which the first whole line must end
_NEWLINE = ord("\n")


@dataclass(slots=True)
class Lines:
    """A dump while it is unpacked. `rest` is of a line that is under way, `last` the last byte of all."""

    path: Path
    source: IO[bytes]
    decoder: Decoder
    newlines: int = 0
    last: int = _NEWLINE
    rest: bytes = b""
    ended: bool = False

    @property
    def count(self) -> int:
        """How many lines so far."""
        return self.newlines + (self.last != _NEWLINE)

    @property
    def position(self) -> int:
        """Bytes of the file that are used up: whoever decodes shares our place in it."""
        if self.source.closed:
            return self.path.stat().st_size
        return os.lseek(self.source.fileno(), 0, os.SEEK_CUR)

    def pour(self, spool: Spool, most: int) -> None:
        """Fill a spool with about `most` bytes, whole lines; `ended` says whether that was all."""
        spool.open()
        spool.view[: len(self.rest)] = self.rest
        size, end = len(self.rest), 0
        while not (self.ended or end):
            size += self._read(spool.view[size : size + BLOCK])
            end = spool.end_of_line(size) if size >= most else 0
            if not end and size > max(most, LONGEST_LINE):
                raise DataError(f"{self.path}: not a dump: a line of more than {LONGEST_LINE >> 20} MB in it")
        end = size if self.ended else end
        self.rest = bytes(spool.view[end:size])
        spool.cut(end)

    def _read(self, view: memoryview) -> int:
        size = self.decoder.readinto(view)
        if size:
            read = np.frombuffer(view, np.uint8, size)
            self.newlines += int(np.count_nonzero(read == _NEWLINE))
            self.last = int(read[-1])
        self.ended = not size
        return size

    def head(self) -> bytes:
        """The first line."""
        text = b""
        for block in self.blocks():
            text += block
            if b"\n" in text or len(text) >= LOOKED_AT:
                break
        return text.partition(b"\n")[0]

    def blocks(self) -> Iterator[bytes]:
        """The plain bytes."""
        block = bytearray(BLOCK)
        while size := self.decoder.readinto(memoryview(block)):
            yield bytes(block[:size])


@contextmanager
def open_lines(path: Path, decoders: Decoders | None = None) -> Iterator[Lines]:
    """Start decoding a dump."""
    with (
        path.open("rb", buffering=0) as source,
        (decoders or Decoders()).open(source, path.suffix) as decoder,
    ):
        yield Lines(path, source, decoder)


def raw_lines(
    path: Path, rows: Iterable[int], decoders: Decoders | None = None
) -> dict[int, tuple[int, bytes]]:
    """Line number and bytes of some rows. Rows are lines that are not blank, counted from 0."""
    wanted, found = set(rows), {}
    row, number, rest = 0, 0, b""
    with open_lines(path, decoders) as lines:
        for block in _with_end(lines.blocks()):
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                number += 1
                if not line.strip(b" \t\r\n\v\f"):
                    continue
                if row in wanted:
                    found[row] = (number, line.rstrip(b"\r"))
                row += 1
            if len(found) == len(wanted):
                break
    return found


def _with_end(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """A last line that lacks its end gets one; a blank line more does no harm here."""
    yield from blocks
    yield b"\n"
