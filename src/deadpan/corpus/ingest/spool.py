"""Decompressed parts of a dump in a temporary file, for DuckDB to read."""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path


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
