"""Folders whose manifest is written last: a folder without one, or with other bytes, is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deadpan.errors import DataError
from deadpan.storage import digest, manifest_path, read_manifest


def begin_folder(folder: Path) -> Path:
    """Make the folder and remove its old manifest: until the new one is written, it is incomplete."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: a file of that name is in the way; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    manifest_path(folder).unlink(missing_ok=True)
    return folder


def check_complete(folder: Path, noun: str, names: Sequence[str]) -> None:
    """Check that each file exists with the hash in the manifest: a file cut off at a line end looks whole."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such {noun} folder")
    if not manifest_path(folder).exists():
        raise DataError(f"{folder}: no manifest.json, so its writing was cut short; write the {noun} again")
    files = read_manifest(folder).files
    for name in names:
        if name not in files or not (folder / name).is_file():
            raise DataError(f"{folder / name}: missing; is {folder} a {noun} folder, and all of it?")
        if digest(folder / name) != files[name].get("sha256"):
            raise DataError(
                f"{folder / name}: not as manifest.json says (edited, damaged or cut off); "
                f"write the {noun} again"
            )
