"""A part of a dump, unpacked, for several threads to read: in memory, where the system can do that."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class Spool:
    """A file that is filled again and again. Of a pipe DuckDB would keep a copy of all it reads."""

    def __init__(self, scratch: Path) -> None:
        self.on_disk = ""
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("deadpan")
        else:
            self.descriptor, self.on_disk = tempfile.mkstemp(dir=scratch)

    @property
    def path(self) -> str:
        """A name to open it by."""
        return self.on_disk or f"/proc/self/fd/{self.descriptor}"

    def rewind(self) -> None:
        """Write over what is in it: memory that is there already costs less than new."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def cut(self) -> None:
        """Let it end where the writing did."""
        os.ftruncate(self.descriptor, os.lseek(self.descriptor, 0, os.SEEK_CUR))

    def close(self) -> None:
        """Give back the memory, or the room on the disk."""
        os.close(self.descriptor)
        if self.on_disk:
            Path(self.on_disk).unlink()
