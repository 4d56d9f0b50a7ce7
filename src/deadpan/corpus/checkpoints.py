"""Finished steps of a build, kept in a hidden folder, so that a run can resume where another stopped.

The folder of a step is named after a hash of its inputs and settings (its key). It gets that name when all
of its files are on the disk, so a killed run leaves whole steps only. A step whose inputs have not changed is
not repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from deadpan.errors import DataError
from deadpan.storage import digest, lock_folder, read_json, write_text

STEP_KEY = "key.json"
_STEP = re.compile(r"[a-z_]+-[0-9a-f]{16}")
_TEMPORARY = re.compile(rf"\.({_STEP.pattern}(\.[0-9a-f]{{8}})?|scratch|fresh|verify-\w+|.*\.json\.\d+\.tmp)")
_FILES = re.compile(r"digests\.json")


def key_hash(key: object) -> str:
    """Return a short hash of everything a step depends on."""
    text = json.dumps(key, sort_keys=True, ensure_ascii=True, allow_nan=False, default=list)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Checkpoints:
    """The finished steps of one output folder, used by one run at a time."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.root = out / ".work"
        self.used: set[str] = set()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder, and remove temporary files before and after."""
        with lock_folder(self.root):
            self._remove_temporary_files()
            try:
                yield
            finally:
                self._remove_temporary_files()

    def _remove_temporary_files(self) -> None:
        for path in self.root.glob(".*"):
            if _TEMPORARY.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)

    def foreign(self) -> list[Path]:
        """Return what the folder has that no build put there."""
        ours = (_TEMPORARY, _STEP, _FILES)
        found = sorted(self.root.iterdir()) if self.root.is_dir() else []
        return [path for path in found if not any(name.fullmatch(path.name) for name in ours)]

    @property
    def scratch(self) -> Path:
        """Folder for spilling to disk; emptied before and after every run."""
        folder = self.root / ".scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def fresh(self) -> Path:
        """Folder for the files of a build until they are published."""
        return self.root / ".fresh"

    def folder(self, name: str, key: object) -> Path:
        """Return the folder of the step with this key, whether it exists or not."""
        return self.root / f"{name}-{key_hash(key)}"

    def step(self, name: str, key: object, make: Callable[[Path], object]) -> Path:
        """Return the folder of a finished step; `make` fills it unless an earlier run has."""
        folder = self.folder(name, key)
        self.used.add(folder.name)
        if (folder / STEP_KEY).is_file():
            return folder
        temporary = start_step(folder)
        make(temporary)
        finish_step(temporary, folder, key)
        return folder

    def has(self, name: str, key: object) -> bool:
        """Return whether an earlier run has finished a step, which this run then uses."""
        folder = self.folder(name, key)
        self.used.add(folder.name)
        return (folder / STEP_KEY).is_file()

    def finished(self, name: str) -> Iterator[tuple[Path, Any]]:
        """Yield the folders and keys of all finished steps with a name, whatever their inputs."""
        for folder in sorted(self.root.glob(f"{name}-*")):
            if (folder / STEP_KEY).is_file():
                yield folder, read_json(folder / STEP_KEY)

    def remove_unused(self) -> None:
        """Remove the steps this run did not use."""
        for folder in self.root.iterdir():
            if _STEP.fullmatch(folder.name) and folder.name not in self.used:
                shutil.rmtree(folder)


def start_step(folder: Path) -> Path:
    """Return an empty folder beside that of a step, to be filled.

    Every attempt has its own: a cluster may start a job again while a lost worker is still running it.
    """
    temporary = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}")
    temporary.mkdir(parents=True)
    return temporary


def finish_step(temporary: Path, folder: Path, key: object) -> None:
    """Give a filled folder its name, after all of its files are on the disk."""
    for path in temporary.rglob("*"):
        flush(path)
    write_key(temporary, key)
    if not (folder / STEP_KEY).is_file():
        shutil.rmtree(folder, ignore_errors=True)  # without a key it is what a killed run left
    try:
        temporary.rename(folder)
    except OSError:
        if not (folder / STEP_KEY).is_file():
            raise
        shutil.rmtree(temporary)  # another attempt was first


@contextmanager
def attempt(path: Path) -> Iterator[Path]:
    """Yield a temporary path that gets its name at the end: two attempts of a job may run at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    yield temporary
    temporary.replace(path)


def write_key(folder: Path, key: object) -> None:
    """Write the key of a step atomically."""
    write_text(folder / STEP_KEY, json.dumps(key, sort_keys=True, default=list))


def flush(path: Path) -> None:
    """Wait until a file is on the disk, so that no rename leads to an empty file after a crash."""
    if path.is_file():
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def file_facts(path: Path) -> dict[str, Any]:
    """Return the size and hash of a file for the manifest, when it is on the disk."""
    flush(path)
    return {"bytes": path.stat().st_size, "sha256": digest(path)}


def disk_full(out: Path) -> DataError:
    """Return the error for a full disk."""
    return DataError(f"{out}: disk full; finished steps are kept: free some space, then run the command again")
