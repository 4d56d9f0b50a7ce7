"""Outputs of the program: folders with a manifest, found, checked and named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan import __version__
from deadpan.errors import DataError
from deadpan.storage import Manifest, OutputPage, digest, read_json, read_manifest

MANIFEST = "manifest.json"
HASHED = 256 * 2**20
"""Bytes of an output whose hashes are checked; of larger files only the size is."""


@dataclass(frozen=True, slots=True)
class Output:
    """A folder that a command wrote. `problem` says why its numbers are not shown; empty if they are."""

    name: str
    folder: Path
    manifest: Manifest
    problem: str = ""

    @property
    def command(self) -> str:
        """The command that wrote the folder."""
        return self.manifest.command

    @property
    def source(self) -> str:
        """The page of its manifest in the site."""
        return f"{self.name}/manifest.html"

    @property
    def about(self) -> OutputPage:
        """The words of the output: its own, or those of its manifest; or why its numbers are not shown."""
        manifest = self.manifest
        if self.problem:
            return OutputPage(self.name, f"Its numbers are not shown: {self.problem}.", ("not shown",), "")
        if manifest.about:
            return manifest.about
        files = f"{len(manifest.files):,} {'file' if len(manifest.files) == 1 else 'files'}"
        counts = [f"{n:,} {name.replace('_', ' ')}" for name, n in list(manifest.counts.items())[:3]]
        seed = [] if manifest.seed is None else [f"seed {manifest.seed}"]
        own = next((name for name in ("report.html", "index.html") if name in manifest.files), "")
        facts = (manifest.command, *counts, *seed)
        return OutputPage(self.name, f"Written by deadpan {manifest.command}: {files}.", facts, own)


def find_outputs(folders: Sequence[Path]) -> list[Output]:
    """Return the outputs in some folders, in their order; folders without any are an error.

    A manifest that is not ours, or that cannot be read, is an output with a problem and no command. An
    output inside another one, such as a step of a run, is part of it and not listed.
    """
    found: list[Output] = []
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: no such folder: give folders that deadpan wrote")
        manifests = _outermost(sorted(folder.rglob(MANIFEST)))
        if not manifests:
            raise DataError(f"{folder}: no manifest.json in it, so deadpan did not write it, or was stopped")
        for path in manifests:
            if all(path.parent.resolve() != each.folder.resolve() for each in found):
                found.append(_output(path.parent, folder, {each.name for each in found}))
    if not any(output.command for output in found):
        raise DataError(found[0].problem)
    return found


def _outermost(paths: Sequence[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in sorted(paths, key=lambda each: (len(each.parts), each)):
        hidden = any(part.startswith(".") for part in path.parts[-4:-1] if part not in (".", ".."))
        if not hidden and not any(path.is_relative_to(other.parent) for other in kept):
            kept.append(path)
    return kept


def _output(folder: Path, root: Path, taken: set[str]) -> Output:
    parts = folder.resolve().relative_to(root.resolve().parent).parts
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.") or "output"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    try:
        manifest = read_manifest(folder)
    except DataError as bad:
        return _unreadable(name, folder, str(bad))
    return Output(name, folder, manifest, check(folder, manifest))


def _unreadable(name: str, folder: Path, problem: str) -> Output:
    """Return an output whose manifest has unknown fields: of a newer version, damaged, or not of ours."""
    try:
        raw = read_json(folder / MANIFEST)
    except DataError:
        raw = None
    if not isinstance(raw, dict) or not isinstance(raw.get("command"), str):
        return Output(name, folder, Manifest(command="", version=""), problem)
    version = str(raw.get("version", ""))
    manifest = Manifest(command=raw["command"], version=version)
    return Output(name, folder, manifest, _newer(version) or problem)


def check(folder: Path, manifest: Manifest) -> str:
    """Return why an output cannot be shown: written by a newer version, or changed since; empty if it can."""
    if newer := _newer(manifest.version):
        return newer
    left = HASHED
    for name, facts in sorted(manifest.files.items(), key=_size):
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            return f"manifest.json names a file outside of the folder, {name}"
        if not path.is_file():
            return f"{name}, which manifest.json lists, is missing: write the output again"
        size = path.stat().st_size
        left -= size
        if size != facts.get("bytes") or (left >= 0 and digest(path) != facts.get("sha256")):
            return f"{name} does not match manifest.json (changed, damaged or cut off): write the output again"
    return ""


def _size(listed: tuple[str, Mapping[str, Any]]) -> int:
    """Return the size of a file as the manifest says; 0 where it says none."""
    size = listed[1].get("bytes")
    return size if isinstance(size, int) else 0


def _newer(version: str) -> str:
    if _numbers(version) > _numbers(__version__):
        return f"written by deadpan {version}, and this is {__version__}: update deadpan to read it"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
