"""A part of a dump, unpacked, for several threads to read: in memory, where the system can do that."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path


class Spool:
    """A file that is filled again and again: memory that is there already costs less than new.

    Of a pipe DuckDB would keep a copy of all it reads.
    """

    def __init__(self, scratch: Path, room: int) -> None:
        self.on_disk = ""
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("deadpan")
        else:
            self.descriptor, self.on_disk = tempfile.mkstemp(dir=scratch)
        self.room = room
        self.open()
        self.memory = mmap.mmap(self.descriptor, room)
        self.view = memoryview(self.memory)

    @property
    def path(self) -> str:
        """A name to open it by."""
        return self.on_disk or f"/proc/self/fd/{self.descriptor}"

    def open(self) -> None:
        """Let all of it be written to; on a disk that is full this fails, not the writing."""
        if self.on_disk and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.descriptor, 0, self.room)
        os.ftruncate(self.descriptor, self.room)

    def end_of_line(self, size: int) -> int:
        """Where the last whole line of its first bytes ends; 0 if there is none."""
        return self.memory.rfind(b"\n", 0, size) + 1

    def cut(self, size: int) -> None:
        """Let it end here for those who read it."""
        os.ftruncate(self.descriptor, size)

    def close(self) -> None:
        """Give back the memory, or the room on the disk."""
        self.view.release()
        self.memory.close()
        os.close(self.descriptor)
        if self.on_disk:
            Path(self.on_disk).unlink()
