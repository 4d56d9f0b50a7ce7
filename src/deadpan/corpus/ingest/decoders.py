"""Decompression of dumps by a program, or by a library where there is none; truncation is always detected."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import IO, Any, Protocol, cast

from deadpan.errors import DataError

BLOCK = 1 << 20
WINDOW = 1 << 31  # the zstd window that dumps are compressed with: 2 GiB
PACKED = (".zst", ".bz2", ".xz", ".gz")
_PROGRAMS = {
    ".zst": (("zstd", "-dcq", "--long=31"),),
    ".bz2": (("lbzip2", "-dc"), ("bzip2", "-dc")),
    ".xz": (("xz", "-dcq"),),
    ".gz": (("gzip", "-dcq"),),
}
"""Commands by suffix, the fastest first. They read standard input, so our file position shows progress."""
_LIBRARIES: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}


class Decoder(Protocol):
    """Decompressed bytes of a file."""

    def readinto(self, view: memoryview) -> int:
        """Read into memory and return the number of bytes; 0 at the end."""

    def damage(self) -> str:
        """Return what is wrong with the file, or an empty text; called at the end."""


@dataclass(slots=True)
class Stream:
    """A file read in this process, plain or through a library."""

    stream: Any
    errors: tuple[type[Exception], ...] = ()
    error: str = ""

    def readinto(self, view: memoryview) -> int:
        if self.error:
            return 0
        try:
            return int(self.stream.readinto(view))
        except self.errors as bad:
            self.error = str(bad) or "premature end"
            return 0

    def damage(self) -> str:
        return self.error


@dataclass(slots=True)
class Program:
    """A file decompressed by another process, whose exit status tells whether the file is whole."""

    process: subprocess.Popen[bytes]
    messages: IO[bytes]

    def readinto(self, view: memoryview) -> int:
        return os.readv(cast("IO[bytes]", self.process.stdout).fileno(), [view])

    def damage(self) -> str:
        status = self.process.wait()
        self.messages.seek(0)
        text = self.messages.read(1_000).decode("utf-8", "replace").split("\n")[0].strip()
        return (text or f"the decoder ended with status {status}") if status else ""


@dataclass(slots=True)
class ZstdFrames:
    """A .zst file through the library `zstandard`, which knows whether the last frame is complete."""

    source: IO[bytes]
    library: Any
    frame: Any = None
    ready: memoryview = field(default_factory=lambda: memoryview(b""))
    error: str = ""

    def readinto(self, view: memoryview) -> int:
        try:
            while not self.ready and not self.error and (block := self.source.read(BLOCK // 8)):
                self.ready = memoryview(self._decode(block))
        except self.library.ZstdError as bad:
            self.error = str(bad)
        size = min(len(view), len(self.ready))
        view[:size] = self.ready[:size]
        self.ready = self.ready[size:]
        return size

    def _decode(self, block: bytes) -> bytes:
        parts = []
        while block:
            if self.frame is None or self.frame.eof:
                self.frame = self.library.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
            parts.append(self.frame.decompress(block))
            block = self.frame.unused_data if self.frame.eof else b""
        return b"".join(parts)

    def damage(self) -> str:
        whole = self.frame is None or self.frame.eof
        return self.error or ("" if whole else "premature end")


@contextmanager
def open_decoder(source: IO[bytes], suffix: str) -> Iterator[Decoder]:
    """Open a decoder for a file by its suffix in lower case."""
    if suffix not in PACKED:
        yield Stream(source)
    elif command := _program(suffix):
        with _run(command, source) as program:
            yield program
    elif suffix in _LIBRARIES:
        with _LIBRARIES[suffix](source) as stream:
            yield Stream(stream, (EOFError, OSError, lzma.LZMAError, zlib.error))
    elif find_spec("zstandard"):
        yield ZstdFrames(source, import_module("zstandard"))
    else:
        raise DataError("no decoder for .zst files: pip install zstandard, or apt (or brew) install zstd")


def _program(suffix: str) -> list[str]:
    """Return the first command that is installed."""
    return next((list(command) for command in _PROGRAMS[suffix] if shutil.which(command[0])), [])


@contextmanager
def _run(command: list[str], source: IO[bytes]) -> Iterator[Program]:
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=messages)
        output = cast("IO[bytes]", process.stdout)
        try:
            yield Program(process, messages)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            output.close()
