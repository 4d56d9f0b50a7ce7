"""The hidden folder where a corpus is made: finished steps under a name that says what went into them.

A step is done when its key is in its folder, which is written last, when all else is on the disk. So a run
that was killed anywhere is taken up where it stopped, and a step whose inputs are the same is not done twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.locks import alone_in
from deadpan.storage import read_json, write_text

KEY = "key.json"


def fingerprint(key: object) -> str:
    """A short name for whatever a step depends on."""
    text = json.dumps(key, sort_keys=True, ensure_ascii=True, allow_nan=False, default=list)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Workshop:
    """Steps of one output folder. Only one run at a time may work in it."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.root = out / ".work"
        self.used: set[str] = set()
        self.settling: dict[Path, Future[None]] = {}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out, and start and end without what a killed one left."""
        with alone_in(self.root), ThreadPoolExecutor(1) as self.settler:
            self._clear_temporaries()
            self.settling.clear()
            try:
                yield
            finally:
                self._clear_temporaries()

    def settle(self) -> None:
        """Wait until all steps are on the disk."""
        for step in self.settling.values():
            step.result()

    def _clear_temporaries(self) -> None:
        for leftover in self.root.glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)

    @property
    def scratch(self) -> Path:
        """Where an engine may spill; emptied before and after every run."""
        folder = self.root / ".scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def folder(self, name: str, key: object) -> Path:
        """Where a step with this key is, or would be."""
        return self.root / f"{name}-{fingerprint(key)}"

    def step(self, name: str, key: object, make: Callable[[Path], object]) -> Path:
        """The folder of a finished step, made now unless it is there. The disk may take its time."""
        folder = self.folder(name, key)
        self.used.add(folder.name)
        if folder in self.settling or (folder / KEY).is_file():
            return folder
        temporary = self.root / f".{folder.name}"
        for leftover in (temporary, folder):
            shutil.rmtree(leftover, ignore_errors=True)
        temporary.mkdir(parents=True)
        make(temporary)
        temporary.rename(folder)
        self.settling[folder] = self.settler.submit(_settle, folder, key)
        return folder

    def earlier(self, name: str) -> Iterator[tuple[Path, Any]]:
        """Finished steps of a name, whatever went into them, with their keys."""
        for folder in sorted(self.root.glob(f"{name}-*")):
            if (folder / KEY).is_file():
                yield folder, read_json(folder / KEY)

    def sweep(self) -> None:
        """Remove the steps this run did not use."""
        for folder in self.root.iterdir():
            if folder.is_dir() and folder.name not in self.used and not folder.name.startswith("."):
                shutil.rmtree(folder)


def _settle(folder: Path, key: object) -> None:
    """Wait for the disk, then say that the step is done."""
    for path in folder.rglob("*"):
        flush(path)
    write_key(folder, key)


def write_key(folder: Path, key: object) -> None:
    """Say what went into a step; there is all of it, or none."""
    write_text(folder / KEY, json.dumps(key, sort_keys=True, default=list))


def flush(path: Path) -> None:
    """Wait until a file is on the disk, so that a rename never uncovers an empty one."""
    if path.is_file():
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def full(out: Path) -> DataError:
    """What to say when the disk is."""
    return DataError(f"{out}: the disk is full; finished steps are kept: make room and run it again")
