"""One run at a time in a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadpan.errors import DataError


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs out; the kernel drops the lock with the process, so a kill leaves none behind."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"{folder}: another run is at work there: wait for its end") from None
        yield
    finally:
        os.close(handle)
