"""Publication of a finished build: files are moved into place, and the manifest is written last."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadpan.corpus.checkpoints import Checkpoints, fingerprint, flush
from deadpan.errors import DataError
from deadpan.storage import Manifest, digest, manifest_path, read_json, read_manifest, write_json
from deadpan.validation import encode

PUBLISHED = "published.json"
RELEASES = "releases.json"
COMMANDS = ("corpus build", "corpus update")


def publish(
    checkpoints: Checkpoints, fresh: Path, known_files: Mapping[str, dict[str, Any]], **account: Any
) -> Manifest:
    """Move finished files into place, remove those of an earlier build, and write the manifest last.

    `known_files` are sizes and hashes that the jobs computed; `account` is what the manifest says besides the
    files: config, seed, inputs, counts and drops.
    """
    out = checkpoints.out
    names = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
    files = {name: known_files.get(name) or _file_facts(fresh / name) for name in names}
    known = [*published(checkpoints), *_benchmarks_after(out)]
    write_json(checkpoints.root / PUBLISHED, sorted({*known, *names}))
    manifest_path(out).unlink(missing_ok=True)
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(out / name)
    for name in sorted(set(known) - set(names)):
        (out / name).unlink(missing_ok=True)
    _remove_empty_folders(out, known)
    shutil.rmtree(fresh)
    checkpoints.remove_unused()
    manifest = Manifest(command="corpus build", files=files, **account)
    write_json(manifest_path(out), encode(manifest))
    write_json(checkpoints.root / PUBLISHED, names)
    return manifest


def files_hash(manifest: Manifest) -> str:
    """Return a hash of all files of a corpus."""
    return fingerprint({name: facts["sha256"] for name, facts in manifest.files.items()})


def _file_facts(path: Path) -> dict[str, Any]:
    """Return the size and hash of a file for the manifest."""
    flush(path)
    return {"bytes": path.stat().st_size, "sha256": digest(path)}


def published(checkpoints: Checkpoints) -> list[str]:
    """Return the files of the output folder that a build wrote, and so may replace or remove."""
    path = checkpoints.root / PUBLISHED
    return list(read_json(path)) if path.is_file() else []


def _benchmarks_after(out: Path) -> list[str]:
    """Return the files of after-cutoff benchmarks of an earlier version, which may have withdrawn texts."""
    found = []
    for path in out.glob("after-*/manifest.json"):
        try:
            manifest = read_manifest(path.parent, any_version=True)
        except DataError:  # somebody else's
            continue
        if manifest.command in COMMANDS:
            found += [path, *(path.parent / name for name in manifest.files if Path(name).name == name)]
    return [path.relative_to(out).as_posix() for path in found]


def _remove_empty_folders(out: Path, known: Sequence[str]) -> None:
    folders = {parent for name in known for parent in Path(name).parents if parent.name}
    for folder in sorted(folders, key=lambda one: -len(one.parts)):
        if (out / folder).is_dir() and not any((out / folder).iterdir()):
            (out / folder).rmdir()
