"""Unpacking dumps, by a library or by a program; one that ends early is never taken as whole."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import lzma
import os
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import IO, Any, Protocol, cast

from deadpan.corpus.frames import ends_early
from deadpan.errors import DataError

BLOCK = 1 << 20
WINDOW = 1 << 31  # what dumps are packed with: a decoder may have to look back 2 GiB
PACKED = (".zst", ".bz2", ".xz", ".gz")
_PROGRAMS = {
    ".zst": (("zstd", "-dcq", "--long=31"),),
    ".bz2": (("lbzip2", "-dc"), ("bzip2", "-dc")),
    ".xz": (("xz", "-dcq"),),
    ".gz": (("gzip", "-dcq"),),
}
"""By the end of a name, the fastest first. They read standard input, so that we see how far they are."""
_LIBRARIES: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}


class Decoder(Protocol):
    """Plain bytes out of a file."""

    def readinto(self, view: memoryview) -> int:
        """Fill some of it; 0 at the end."""

    @property
    def early(self) -> bool:
        """Whether it is known from the start that the file ends early."""

    def damage(self) -> str:
        """What is wrong with the file, empty if it is whole. Asked at the end."""


@dataclass(slots=True)
class Stream:
    """Read in this process, as it is or by a library, straight into the memory of whoever asks."""

    stream: Any
    troubles: tuple[type[Exception], ...] = ()
    early: bool = False
    found: str = ""

    def readinto(self, view: memoryview) -> int:
        if self.found:
            return 0
        try:
            return int(self.stream.readinto(view))
        except self.troubles as bad:
            self.found = str(bad) or "premature end"
            return 0

    def damage(self) -> str:
        return self.found or ("premature end" if self.early else "")


@dataclass(slots=True)
class Program:
    """Unpacked by a process of its own."""

    process: subprocess.Popen[bytes]
    early: bool = False
    said: list[bytes] = field(default_factory=list)

    def readinto(self, view: memoryview) -> int:
        return os.readv(cast("IO[bytes]", self.process.stdout).fileno(), [view])

    def damage(self) -> str:
        status = self.process.wait()
        text = b"".join(self.said).decode("utf-8", "replace").split("\n")[0].strip()
        return (text or f"the decoder ended with status {status}") if status else ""


class Decoders:
    """At most so many at a time: each may hold a window of 2 GiB, which the next one uses again."""

    def __init__(self, at_once: int = 1) -> None:
        self.turns = threading.Semaphore(at_once)
        self.windows: SimpleQueue[Any] = SimpleQueue()

    def forget(self) -> None:
        """Give back the windows nobody uses."""
        while not self.windows.empty():
            self.windows.get()

    @contextmanager
    def open(self, source: IO[bytes], suffix: str) -> Iterator[Decoder]:
        """A decoder for a file by the end of its name; it does not outlive the block."""
        with self.turns, ExitStack() as stack:
            yield self._of(source, suffix, stack)

    def _of(self, source: IO[bytes], suffix: str, stack: ExitStack) -> Decoder:
        if suffix not in PACKED:
            return Stream(source)
        if suffix == ".zst" and find_spec("zstandard"):
            return stack.enter_context(self._zstandard(source))
        if command := _program(suffix):
            return stack.enter_context(_run(command, source))
        if suffix == ".zst":
            raise DataError(
                "nothing to read .zst files with: pip install zstandard, or apt (or brew) install zstd"
            )
        stream = stack.enter_context(_LIBRARIES[suffix](source))
        return Stream(stream, (EOFError, OSError, lzma.LZMAError, zlib.error))

    @contextmanager
    def _zstandard(self, source: IO[bytes]) -> Iterator[Decoder]:
        """Its reader takes a file that ends early as whole, so that is looked for in the file itself."""
        library = import_module("zstandard")
        try:
            window = self.windows.get_nowait()
        except Empty:
            window = library.ZstdDecompressor(max_window_size=WINDOW)
        stream = window.stream_reader(source, read_size=BLOCK, read_across_frames=True, closefd=False)
        try:
            yield Stream(stream, (library.ZstdError,), ends_early(source.fileno()))
        finally:
            stream.close()
            self.windows.put(window)


def _program(suffix: str) -> list[str]:
    """The first that is installed."""
    return next((list(command) for command in _PROGRAMS[suffix] if shutil.which(command[0])), [])


@contextmanager
def _run(command: list[str], source: IO[bytes]) -> Iterator[Program]:
    process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running = Program(process)
    _widen(cast("IO[bytes]", process.stdout).fileno())
    listener = threading.Thread(
        target=lambda: running.said.extend(cast("IO[bytes]", process.stderr)), daemon=True
    )
    listener.start()
    try:
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        listener.join()
        cast("IO[bytes]", process.stdout).close()
        cast("IO[bytes]", process.stderr).close()


def _widen(descriptor: int) -> None:
    """A larger pipe, where the system has the call: fewer switches between the processes."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # the limit for pipes may be lower; the usual size works too
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, BLOCK)
