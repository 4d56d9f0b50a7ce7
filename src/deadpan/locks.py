"""Locks on folders, so that only one run at a time works in each."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadpan.errors import DataError


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, which is made if needed.

    The kernel releases the lock when the process ends, so a killed run leaves none behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"{folder}: another run is using this folder: wait until it ends") from None
        yield
    finally:
        os.close(handle)
