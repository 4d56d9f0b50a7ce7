"""Progress of long work, reported by library functions and shown by their callers."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a description, the units done and the total; a total of 0 means it is unknown."""


def silent(description: str, done: int, total: int) -> None:
    """Ignore progress: the default of every library function."""
