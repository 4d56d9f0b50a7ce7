"""Lines of a dump: read in parts, or looked up one by one. A line too long for a comment is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from deadpan.corpus.ingest.decoders import BLOCK, Decoder, open_decoder
from deadpan.corpus.ingest.places import Place, open_place, size_at
from deadpan.corpus.ingest.spool import Spool

OBJECT_SIZE = 4 << 20  # half of a read buffer of DuckDB
LONGEST_LINE = OBJECT_SIZE - BLOCK  # the longest lines of Reddit have a few hundred kB
FIRST_LINE = 1 << 22  # bytes in which the first line must end
_NEWLINE = b"\n"
_BLANK = b" \t\r\n\v\f"


@dataclass(slots=True)
class Lines:
    """A dump being decompressed.

    `rest` is the start of an incomplete line, `last` the last byte so far; `too_long` are the numbers of the
    lines that were left out, and `skipping` is true inside of one.
    """

    path: Place
    source: IO[bytes]
    tell: Callable[[], int]
    decoder: Decoder
    newlines: int = 0
    last: int = _NEWLINE[0]
    rest: bytes = b""
    skipping: bool = False
    too_long: list[int] = field(default_factory=list)
    ended: bool = False

    @property
    def count(self) -> int:
        """Number of lines so far."""
        return self.newlines + (self.last != _NEWLINE[0])

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        return size_at(self.path) if self.source.closed else self.tell()

    def fill(self, spool: Spool, most: int) -> None:
        """Fill a spool with whole lines of about `most` bytes; sets `ended` at the end of the dump."""
        spool.open()
        spool.view[: len(self.rest)] = self.rest
        size, line = len(self.rest), 0  # `line` is where the last, incomplete line begins
        while not self.ended and (size < most or not line):
            size, line = self._add(spool, size, line)
        end = size if self.ended else line
        self.rest = bytes(spool.view[end:size])
        spool.cut(end)

    def _add(self, spool: Spool, size: int, line: int) -> tuple[int, int]:
        """Read a block behind the first `size` bytes; leave out a line that gets too long."""
        before = self.newlines
        end = size + self._read(spool.view[size : size + BLOCK])
        first = spool.memory.find(_NEWLINE, size, end)
        if self.skipping:
            if first < 0:
                return size, line
            self.skipping = False
            kept = end - first - 1
            spool.view[size : size + kept] = bytes(spool.view[first + 1 : end])
            end = size + kept
        elif (first if first >= 0 else end) - line > LONGEST_LINE:
            self.too_long.append(before + 1)
            if first < 0:
                self.skipping = True
                return line, line
            kept = end - first - 1
            spool.view[line : line + kept] = bytes(spool.view[first + 1 : end])
            size, end = line, line + kept
        return end, max(line, spool.memory.rfind(_NEWLINE, size, end) + 1)

    def _read(self, view: memoryview) -> int:
        size = self.decoder.readinto(view)
        if size:
            read = np.frombuffer(view, np.uint8, size)
            self.newlines += int(np.count_nonzero(read == _NEWLINE[0]))
            self.last = int(read[-1])
        self.ended = not size
        return size

    def head(self) -> bytes:
        """Return the first line."""
        text = b""
        for block in self.blocks():
            text += block
            if _NEWLINE in text or len(text) >= FIRST_LINE:
                break
        return text.partition(_NEWLINE)[0]

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes in blocks."""
        block = bytearray(BLOCK)
        while size := self.decoder.readinto(memoryview(block)):
            yield bytes(block[:size])


@contextmanager
def open_lines(path: Place) -> Iterator[Lines]:
    """Open a dump for reading lines."""
    with open_place(path) as (source, tell), open_decoder(source, path.suffix.lower()) as decoder:
        yield Lines(path, source, tell, decoder)


def raw_lines(path: Place, rows: Iterable[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield (row, line number, bytes) of some rows, given in ascending order.

    Rows are counted from 0; a blank line, or one that is too long, is no row.
    """
    wanted = iter(rows)
    next_row = next(wanted, None)
    row, number, rest = 0, 0, b""
    with open_lines(path) as lines:
        for block in _with_end(lines.blocks()):
            *whole, rest = (rest + block).split(_NEWLINE)
            for line in whole:
                if next_row is None:
                    return
                number += 1
                if not line.strip(_BLANK) or len(line) > LONGEST_LINE:
                    continue
                if row == next_row:
                    yield row, number, line.rstrip(b"\r")
                    next_row = next(wanted, None)
                row += 1


def _with_end(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks and a line break, for a last line without one."""
    yield from blocks
    yield _NEWLINE
