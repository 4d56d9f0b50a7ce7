"""Hashes of dumps, which name what is made of them; a file that did not change is not hashed again."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from deadpan.corpus.dumps import Dump
from deadpan.storage import digest, read_json, write_json

DIGESTS = "digests.json"


class Digests:
    """The hashes of some dumps, found one after the other while the first are already read."""

    def __init__(self, folder: Path, dumps: Sequence[Dump], hasher: Executor) -> None:
        self.path = folder / DIGESTS
        self.known: dict[str, list[Any]] = read_json(self.path) if self.path.is_file() else {}
        self.places = [str(dump.path.resolve()) for dump in dumps]
        self.marks = [
            hasher.submit(self._mark, dump.path, at) for dump, at in zip(dumps, self.places, strict=True)
        ]

    def _mark(self, path: Path, place: str) -> list[Any]:
        """Size, time and hash."""
        state = path.stat()
        seen = [state.st_size, state.st_mtime_ns]
        old = self.known.get(place)
        return old if old and old[:2] == seen else [*seen, digest(path)]

    def of(self, number: int) -> tuple[str, int]:
        """The hash of a dump, and the how manieth with this hash it is."""
        sha256 = [mark.result()[2] for mark in self.marks[: number + 1]]
        return sha256[-1], sha256.count(sha256[-1])

    def save(self) -> None:
        """Wait for all of them, and remember them."""
        fresh = {place: mark.result() for place, mark in zip(self.places, self.marks, strict=True)}
        if fresh != self.known:
            write_json(self.path, fresh)
