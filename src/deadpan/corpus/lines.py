"""Lines of a dump, from a local file or a URL: decompressed, and read in parts or looked up one by one."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import numpy as np

from deadpan.archives import ZSTD
from deadpan.errors import DataError, need, pip_install, reason_of

BLOCK_BYTES = 1 << 20
OBJECT_SIZE = 4 << 20  # half of a read buffer of DuckDB
LONGEST_LINE = OBJECT_SIZE - BLOCK_BYTES  # the longest lines of Reddit have a few hundred kB
FIRST_LINE = 1 << 22  # bytes in which the first line must end
WINDOW_LOG = 31
WINDOW = 1 << WINDOW_LOG  # the zstd window that dumps are compressed with: 2 GiB; a larger one is damage
_NEWLINE = b"\n"
_BLANK = b" \t\r\n\v\f"


@dataclass(slots=True)
class Lines:
    """A dump being decompressed.

    `rest` is the start of an incomplete line, `last` the last byte so far; `too_long` are the numbers of the
    lines that were left out, and `skipping` is true inside of one.
    """

    path: Place
    source: io.RawIOBase
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
        return int(mark_of(self.path)[0]) if self.source.closed else self.source.tell()

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
        end = size + self._read(spool.view[size : size + BLOCK_BYTES])
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
        block = bytearray(BLOCK_BYTES)
        while size := self.decoder.readinto(memoryview(block)):
            yield bytes(block[:size])


@contextmanager
def open_lines(path: Place) -> Iterator[Lines]:
    """Open a dump for reading lines."""
    with open_place(path) as source, open_decoder(source, path.suffix.lower()) as decoder:
        yield Lines(path, source, decoder)


def raw_lines(path: Place, rows: Iterable[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield (row, line number, bytes) of some rows, given in ascending order.

    Rows are counted from 0; a blank line, or one that is too long, is no row.
    """
    wanted = iter(rows)
    next_row = next(wanted, None)
    row, number, rest = 0, 0, b""
    with open_lines(path) as lines:
        for block in chain(lines.blocks(), [_NEWLINE]):  # for a last line without a line break
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


class Spool:
    """A file that is filled again and again: a pipe would make DuckDB keep a copy of everything it reads.

    After `close` its methods raise an error, so that a thread that Ctrl-C left running cannot use it.
    """

    def __init__(self, scratch: Path, room: int) -> None:
        self.file = tempfile.NamedTemporaryFile(dir=scratch, prefix="part-", buffering=0)  # noqa: SIM115
        self.path = self.file.name
        self.room = room
        try:
            self.open()
            self.memory = mmap.mmap(self.file.fileno(), room)
        except OSError:  # the disk is full
            self.file.close()
            raise
        self.view = memoryview(self.memory)

    def open(self) -> None:
        """Make all of it writable; a full disk raises an error here rather than while writing."""
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.file.fileno(), 0, self.room)
        self.file.truncate(self.room)

    def cut(self, size: int) -> None:
        """Truncate it for its readers."""
        self.file.truncate(size)

    def close(self) -> None:
        """Remove the file."""
        self.file.close()
        with suppress(BufferError):  # in use by a thread that Ctrl-C left running; freed when that ends
            self.view.release()
            self.memory.close()


@dataclass(slots=True)
class Decoder:
    """Decompressed bytes of a file; `damage` says what is wrong with it, once they end."""

    stream: Any
    errors: tuple[type[Exception], ...]
    damage: str = ""

    def readinto(self, view: memoryview) -> int:
        """Read into memory and return the number of bytes; 0 at the end."""
        if self.damage:
            return 0
        try:
            return int(self.stream.readinto1(view))  # one read: bytes before an error are not lost
        except self.errors as bad:
            self.damage = reason_of(bad)
            return 0


def _open_zst(source: io.RawIOBase) -> Any:
    zstd = need(ZSTD, "corpus")
    return zstd.ZstdFile(source, options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})


def _zst_errors() -> tuple[type[Exception], ...]:
    return (EOFError, need(ZSTD, "corpus").ZstdError)


@contextmanager
def open_decoder(source: io.RawIOBase, suffix: str) -> Iterator[Decoder]:
    """Open a decoder for a file by its suffix in lower case."""
    opened, errors = DECODERS.get(suffix, (io.BufferedReader, tuple))
    with opened(source) as stream:
        yield Decoder(stream, errors())


DECODERS: dict[str, tuple[Callable[[Any], Any], Callable[[], tuple[type[Exception], ...]]]] = {
    ".zst": (_open_zst, _zst_errors),
    ".bz2": (bz2.open, lambda: (EOFError, OSError)),
    ".xz": (lzma.open, lambda: (EOFError, lzma.LZMAError)),
    ".gz": (gzip.open, lambda: (EOFError, OSError, zlib.error)),
}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at a URL, with the methods of a Path that ingest needs."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        return self.url.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    def resolve(self) -> RemoteFile:
        """Return itself: a URL is absolute."""
        return self

    def is_file(self) -> bool:
        system, path = file_system(self.url)
        return bool(system.isfile(path))


Place: TypeAlias = Path | RemoteFile


def is_url(text: str) -> bool:
    """Return whether a text is a URL rather than a path."""
    scheme, colon, _ = text.partition(":")
    return bool(colon) and len(scheme) > 1 and scheme.isalnum() and ("://" in text or scheme == "file")


def as_place(text: str) -> Place:
    """Return a path or URL as a place; a file: URL is a local path."""
    if not is_url(text):
        return Path(text)
    parts = urlsplit(text)
    return Path(unquote(parts.path)) if parts.scheme == "file" else RemoteFile(text)


_HDFS = "needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH (hadoop classpath --glob)"
_URL_HINTS = {"hdfs": _HDFS, "viewfs": _HDFS}


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it. Keys and endpoints come from the environment."""
    core: Any = need("fsspec.core", "cloud")
    try:
        system, path = core.url_to_fs(url)
    except (ValueError, ImportError, OSError) as bad:
        reason = str(bad).partition("\n")[0].partition(" dlopen(")[0][:100]
        hint = _URL_HINTS.get(urlsplit(url).scheme, f"{pip_install('cloud')} for s3:, or copy it here")
        raise DataError(f"{url}: no access to this kind of URL ({reason}): {hint}") from None
    return system, path


def find_remote(url: str) -> Iterator[RemoteFile]:
    """Yield the files at a URL: one, those of a folder to any depth, or those that match a pattern."""
    system, path = file_system(url)
    try:
        if any(sign in path for sign in "*?["):
            found = [name for name in system.glob(path) if system.isfile(name)]
        else:
            found = system.find(path)
    except OSError as bad:
        raise DataError(f"{url}: cannot be listed ({bad}): check the address and the credentials") from None
    host = urlsplit(url).netloc
    for name in sorted(found):
        # A path that begins with a slash, as of HDFS, has lost its host.
        kept = f"{urlsplit(url).scheme}://{host}{name}" if host and name.startswith("/") else ""
        yield RemoteFile(kept or system.unstrip_protocol(name))


def read_beside(place: Place, name: str) -> bytes | None:
    """Return the bytes of a small file in the folder of a place, or None if there is none."""
    if isinstance(place, Path):
        beside = place.with_name(name)
        return beside.read_bytes() if beside.is_file() else None
    system, path = file_system(place.url.rpartition("/")[0] + f"/{name}")
    try:
        return bytes(system.cat_file(path)) if system.isfile(path) else None
    except OSError:  # as a server answers that lists no folders
        return None


def mark_of(place: Place) -> list[Any]:
    """Return size and time or version of a file, to tell whether it has changed."""
    if isinstance(place, Path):
        state = place.stat()
        return [state.st_size, state.st_mtime_ns]
    system, path = file_system(place.url)
    try:
        facts = system.info(path)
    except OSError as bad:
        raise DataError(f"{place}: cannot be read ({bad})") from None
    version = facts.get("ETag") or facts.get("mtime") or facts.get("LastModified") or ""
    return [int(facts["size"]), str(version)]


def digest_at(place: Place) -> str:
    """Return the SHA-256 of a file."""
    found = hashlib.sha256()
    with open_place(place) as source:
        while block := source.read(BLOCK_BYTES):
            found.update(block)
    return found.hexdigest()


def open_place(place: Place) -> io.RawIOBase:
    """Open a file for a decoder; its `tell` says how many bytes were read."""
    return place.open("rb", buffering=0) if isinstance(place, Path) else _RemoteStream(place)


class _RemoteStream(io.RawIOBase):
    """A file at a URL. An error of its file system is one of ours, or the dump would seem truncated."""

    def __init__(self, place: RemoteFile) -> None:
        self.place = place
        self.position = 0
        with self._readable_errors():
            system, path = file_system(place.url)
            self.file: Any = system.open(path, "rb", block_size=8 * BLOCK_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._readable_errors():
            block = self.file.read(len(buffer))
        buffer[: len(block)] = block
        self.position += len(block)
        return len(block)

    def tell(self) -> int:
        return self.position

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        try:
            yield
        except DataError:
            raise
        except Exception as bad:  # noqa: BLE001 (every file system has errors of its own)
            raise DataError(f"{self.place}: cannot be read ({bad}): run the command again") from None
