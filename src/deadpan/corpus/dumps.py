"""Dump files: which there are, what they hold, and their lines, never taken as whole when cut."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Literal, cast

from deadpan.corpus.months import month_number
from deadpan.errors import ConfigError, DataError

Kind = Literal["comments", "posts"]
BLOCK = 1 << 20
LOOKED_AT = 1 << 22  # bytes in which the first whole line must end
LOOK_EVERY = 16  # of so many blocks one is looked at, to tell how fast lines come
PROGRAMS: dict[str, tuple[tuple[str, ...], ...]] = {
    ".zst": (("zstd", "-dcq", "--long=31"),),
    ".bz2": (("lbzip2", "-dc"), ("bzip2", "-dc")),
    ".xz": (("xz", "-dcq"),),
    ".gz": (("gzip", "-dcq"),),
}
"""Decoders by the end of a name, the fastest first. They read standard input, so that we see how far."""

_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("comments", re.compile(r"^RC_|_comments\b", re.IGNORECASE)),
    ("posts", re.compile(r"^RS_|_submissions\b", re.IGNORECASE)),
)
_BLANK = re.compile(rb"\n[ \t\r\v\f]*\n")
_MONTH = re.compile(r"^R[CS]_(\d{4}-\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Dump:
    """One file of comments or posts."""

    path: Path
    kind: Kind

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def packed(self) -> bool:
        return self.path.suffix in PROGRAMS

    @property
    def named_month(self) -> int | None:
        """The month its name claims, such as 200901 of RC_2009-01.zst; what it holds is another matter."""
        found = _MONTH.match(self.path.name)
        try:
            return month_number(found[1]) if found else None
        except ConfigError:
            return None


def find_dumps(patterns: Sequence[str]) -> list[Dump]:
    """Files, folders of them and globs as dumps, in the order of their names, each once."""
    paths: dict[Path, Path] = {}
    for pattern in patterns:
        for path in _matching(pattern):
            paths.setdefault(path.resolve(), path)
    if not paths:
        asked = ", ".join(patterns) or "nothing"
        raise DataError(f"no dumps match {asked}: give RC_ and RS_ files, or the folder they are in")
    dumps = [Dump(path, _kind(path)) for path in sorted(paths.values(), key=lambda p: (p.name, str(p)))]
    if not any(dump.kind == "comments" for dump in dumps):
        raise DataError(f"only submissions in {', '.join(patterns)}: a corpus needs RC_ files of comments")
    return dumps


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        return [p for p in path.iterdir() if p.is_file() and p.name.startswith(("RC_", "RS_"))]
    if path.exists():
        return [path]
    root = path.anchor or "."
    return [found for found in Path(root).glob(str(path.relative_to(path.anchor))) if found.is_file()]


def _kind(path: Path) -> Kind:
    """By the name, else by what the first line has."""
    for kind, name in _NAMES:
        if name.search(path.name):
            return kind
    with open_lines(Dump(path, "comments")) as stream:
        first = stream.head()
    if b'"body"' in first:
        return "comments"
    if b'"title"' in first:
        return "posts"
    raise DataError(f"{path}: not a dump: its first line is no comment and no submission in JSON")


# ---------------------------------------------------------------- decoding


def decoder_command(suffix: str) -> list[str]:
    """The program that unpacks a kind of file, or our own slower one where there is none."""
    for command in PROGRAMS[suffix]:
        if shutil.which(command[0]):
            return list(command)
    if suffix == ".zst" and not find_spec("zstandard"):
        raise DataError(
            "no zstd program to read .zst files with: apt install zstd, brew install zstd, "
            "or pip install zstandard"
        )
    return [sys.executable, "-m", "deadpan.corpus.decoder", suffix]


@dataclass(slots=True)
class Lines:
    """A dump while it is unpacked: bytes in from the decoder, bytes out to whoever parses.

    `last` is the last byte that was looked at, `blank` whether a blank line was.
    """

    dump: Dump
    source: IO[bytes]
    process: subprocess.Popen[bytes] | None
    read: int = 0
    looked_at: int = 0
    newlines: int = 0
    last: int = 0
    blank: bool = False
    rest: bytes = b""
    ended: bool = False
    said: list[bytes] = field(default_factory=list)

    @property
    def count(self) -> int:
        """About how many lines so far, by the blocks that were looked at."""
        return self.newlines * self.read // max(self.looked_at, 1)

    @property
    def position(self) -> int:
        """Bytes of the file that are used up: the decoder shares our place in it."""
        if self.source.closed:
            return self.dump.size
        return os.lseek(self.source.fileno(), 0, os.SEEK_CUR)

    @property
    def output(self) -> int:
        """The file descriptor the plain bytes come out of."""
        return cast("IO[bytes]", self.process.stdout).fileno() if self.process else self.source.fileno()

    def pour(self, target: int, most: int) -> None:
        """Pass about `most` bytes on, whole lines; `ended` says whether that was all.

        Most blocks of a pipe are handed over unseen, which saves a copy.
        """
        block, turn, first = bytearray(BLOCK), 0, self.read
        unseen = self.process is not None and hasattr(os, "splice")
        _write(target, self.rest)
        self.rest = b""
        while self.read - first < most:
            if unseen and turn % LOOK_EVERY:
                size = os.splice(self.output, target, BLOCK)
            else:
                size = self._look(block)
                _write(target, memoryview(block)[:size])
            self.read += size
            turn += 1
            if not size:
                self.ended = True
                return
        self._finish_line(block, target)

    def _finish_line(self, block: bytearray, target: int) -> None:
        """The rest of a line that is under way; what is read past it waits for the next part."""
        while size := self._look(block):
            self.read += size
            end = block.find(b"\n", 0, size) + 1
            _write(target, memoryview(block)[: end or size])
            if end:
                self.rest = bytes(block[end:size])
                return
        self.ended = True

    def _look(self, block: bytearray) -> int:
        """Read a block, and see how many lines it has and whether one is blank."""
        size = os.readv(self.output, [block])
        if size:
            self.looked_at += size
            self.newlines += block.count(b"\n", 0, size)
            edge = self.last in b"\0\n" and block[:1].isspace()  # at the start, or after the end of a line
            self.blank = self.blank or edge or _BLANK.search(memoryview(block)[:size]) is not None
            self.last = block[size - 1]
        return size

    def head(self) -> bytes:
        """The first line."""
        text = b""
        while b"\n" not in text and len(text) < LOOKED_AT:
            block = os.read(self.output, BLOCK)
            if not block:
                break
            text += block
        return text.partition(b"\n")[0]

    def blocks(self) -> Iterator[bytes]:
        """The plain bytes."""
        while block := os.read(self.output, BLOCK):
            yield block

    def damage(self) -> str:
        """What the decoder says is wrong with the file; empty if it is whole. Waits for its end."""
        if self.process is None:
            return ""
        status = self.process.wait()
        text = b"".join(self.said).decode("utf-8", "replace").split("\n")[0].strip()
        return (text or f"the decoder ended with status {status}") if status else ""


def _write(target: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


@contextmanager
def open_lines(dump: Dump) -> Iterator[Lines]:
    """Start decoding a dump; whatever happens, the decoder does not outlive the block."""
    with dump.path.open("rb") as source:
        if not dump.packed:
            yield Lines(dump, source, None)
            return
        command = decoder_command(dump.path.suffix)
        process = subprocess.Popen(
            command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        )
        lines = Lines(dump, source, process)
        widen(lines.output)
        listener = threading.Thread(target=_listen, args=(process, lines.said), daemon=True)
        listener.start()
        try:
            yield lines
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            listener.join()
            cast("IO[bytes]", process.stdout).close()
            cast("IO[bytes]", process.stderr).close()


def _listen(process: subprocess.Popen[bytes], said: list[bytes]) -> None:
    said.extend(cast("IO[bytes]", process.stderr))


def _environment() -> dict[str, str]:
    """Where our own decoder, should it be needed, finds us."""
    home = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}


def widen(descriptor: int) -> None:
    """A larger pipe, where the system has the call: fewer switches between the processes."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # the limit for pipes may be lower; the usual size works too
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, BLOCK)


def raw_lines(dump: Dump, rows: Iterable[int]) -> dict[int, tuple[int, bytes]]:
    """Line number and bytes of some rows. Rows are lines that are not blank, counted from 0."""
    wanted, found = set(rows), {}
    row, number, rest = 0, 0, b""
    with open_lines(dump) as lines:
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
