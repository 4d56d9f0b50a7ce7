"""Recorded runs that come with the package, with every row: baselines and embedded models."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from deadpan.errors import DataError
from deadpan.storage import atomic

KEPT = ("run.json", "rows.jsonl", "manifest.json")
"""The files of a run that are recorded; its journal of calls is not."""
STAMP = (1980, 1, 1, 0, 0, 0)


def unpack_recorded(folder: Path) -> Path:
    """Write the recorded runs into a folder, one folder per run, and return it."""
    archive = files("deadpan.bench.runs").joinpath("recorded.zip")
    if not archive.is_file():
        raise DataError("no recorded runs in this installation: name a folder of runs")
    with archive.open("rb") as raw, zipfile.ZipFile(raw) as packed:
        packed.extractall(folder)
    return folder


def pack_runs(folders: Sequence[Path], out: Path) -> int:
    """Pack complete runs for the package; equal runs give equal bytes. Return the number of runs."""
    with atomic(out) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as packed:
        for folder in sorted(folders, key=lambda each: each.name):
            for name in KEPT:
                if not (folder / name).is_file():
                    raise DataError(f"{folder}: no {name}: only a complete run is recorded")
                about = zipfile.ZipInfo(f"{folder.name}/{name}", STAMP)
                about.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(about, (folder / name).read_bytes())
    return len(folders)
