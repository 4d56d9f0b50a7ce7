"""Folders whose manifest is written last: a folder without one, or with other bytes, is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deadpan.errors import ConfigError, DataError
from deadpan.storage import Mark, digest, manifest_path, prepare_output, read_manifest


def begin_folder(folder: Path, readme_with: str = "") -> dict[str, Mark]:
    """Make the folder and remove its old manifest: until the new one is written, it is incomplete.

    Returns the marks of what is in it, for `write_manifest`. A manifest.json that deadpan did not write is
    somebody else's, and the folder is refused. `readme_with` names a file that outputs with a README.md have:
    where neither it nor a manifest is there, README.md is somebody else's, too.
    """
    readme = folder / "README.md"
    ours = manifest_path(folder).is_file() or (folder / readme_with).exists()
    if readme_with and readme.exists() and not ours:
        raise ConfigError(f"{readme}: not written by deadpan: choose another --out")
    before = prepare_output(folder)
    manifest_path(folder).unlink(missing_ok=True)
    return before


def check_complete(folder: Path, noun: str, names: Sequence[str]) -> None:
    """Check that each file exists with the hash in the manifest: a file cut off at a line end looks whole."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such {noun} folder")
    if not manifest_path(folder).exists():
        raise DataError(f"{folder}: no manifest.json, so its writing was cut short; write the {noun} again")
    files = read_manifest(folder).files
    for name in names:
        if name not in files or not (folder / name).is_file():
            raise DataError(f"{folder / name}: missing; is {folder} a complete {noun} folder?")
        if digest(folder / name) != files[name].get("sha256"):
            raise DataError(
                f"{folder / name}: not as manifest.json says (edited, damaged or cut off); "
                f"write the {noun} again"
            )
