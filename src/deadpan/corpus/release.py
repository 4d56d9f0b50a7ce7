"""Publication of a finished build: all of its files become the current version by one rename.

A version is a folder in `.versions` with every file of a corpus. `.current` is a link to one of them, and the names
that people see (raw, main, manifest.json, ...) are links through `.current`. So the version before is whole and
readable until `.current` is replaced, and a run that is killed leaves one version or the other.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.corpus.account import UNREADABLE, corpus_card
from deadpan.corpus.benchmark import INDEXES
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import Checkpoints, file_facts, flush, key_hash
from deadpan.corpus.engines.engine import Engine, Report, ignore
from deadpan.corpus.lines import Place, RemoteFile, as_place, file_system, is_url
from deadpan.corpus.rules import FORGOTTEN
from deadpan.corpus.settings import BuildOptions, CorpusSettings
from deadpan.corpus.write import MONTHS_FOLDER
from deadpan.errors import ConfigError, DataError
from deadpan.storage import Manifest, manifest_path, read_json, read_manifest, save_manifest, write_json, write_text

OPTIONAL_FILES = (UNREADABLE, FORGOTTEN)
RELEASES, WITHDRAWN = "releases.json", "withdrawn"
VERSIONS, CURRENT = ".versions", ".current"
_OWN_FILES = ".files.json"  # in a version: the files that we wrote; others are the user's
_STARTED = ".deadpan-upload"
_MANIFEST = "manifest.json"


def check_output(checkpoints: Checkpoints, settings: CorpusSettings, options: BuildOptions) -> None:
    """Raise an error if the output folder has files that this build would replace, and no build wrote."""
    planned = {Path(name).parts[0] for name in planned_files(settings, options.packed)}
    check_names(checkpoints, {*planned, *OPTIONAL_FILES, MONTHS_FOLDER, RELEASES, WITHDRAWN}, "corpus build")


def check_names(checkpoints: Checkpoints, planned: set[str], command: str) -> None:
    """Raise an error if a folder has one of these names, and the same command did not write it."""
    out = checkpoints.out
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: a file of that name exists: choose another folder")
    found = [name for name in sorted({*planned, _MANIFEST}) if is_foreign(out, name)]
    if not found and (out / _MANIFEST).is_file() and read_manifest(out, any_version=True).command != command:
        found.append(_MANIFEST)
    found += [name for name in (CURRENT,) if (out / name).exists() and not (out / name).is_symlink()]
    found += [path.relative_to(out).as_posix() for path in checkpoints.foreign()]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise DataError(
            f"{out / found[0]}{more}: not written by deadpan {command}, so not overwritten: choose another --out"
        )


def is_foreign(out: Path, name: str) -> bool:
    """Return whether a folder has something of this name that is not a link to the current version."""
    path = out / name
    return os.path.lexists(path) and not (path.is_symlink() and path.readlink().as_posix() == f"{CURRENT}/{name}")


def planned_files(settings: CorpusSettings, packed: bool) -> list[str]:
    """Return the names of the files that every build writes, besides its manifest and a file per month."""
    texts = ["raw/sarc.csv", "raw/sarc.tsv", "raw/sequences.csv", "raw/comments.json"]
    for folder in ("main", *settings.benchmark.subsets):
        texts += [f"{folder}/comments.json", *(f"{folder}/{index}.csv" for index in INDEXES)]
    suffix = ".bz2" if packed else ""
    return ["README.md", "stats.json", "raw/sarc.parquet", *(f"{name}{suffix}" for name in texts)]


def publish(
    checkpoints: Checkpoints,
    fresh: Path,
    known_files: Mapping[str, dict[str, Any]],
    finish: Callable[[Path], None] | None = None,
    **account: Any,
) -> Manifest:
    """Make the files in `fresh` the current version, with their manifest and the history of the releases.

    `known_files` are sizes and hashes that the jobs computed; `finish` adds to the folder before it is published;
    `account` is what the manifest says besides the files: config, seed, inputs, counts and drops.
    """
    names = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
    files = {name: known_files.get(name) or file_facts(fresh / name) for name in names}
    save_manifest(fresh / _MANIFEST, Manifest(command="corpus build", files=files, **account))
    for name in (RELEASES, WITHDRAWN):
        if (checkpoints.out / CURRENT / name).exists():
            _link_files(checkpoints.out / CURRENT / name, fresh / name)
    checkpoints.remove_unused()  # `finish` reads the rows of this build, not of earlier ones
    if finish:
        finish(fresh)
    manifest = write_release_card(fresh)
    switch_version(checkpoints.out, fresh)
    return manifest


def write_release_card(folder: Path) -> Manifest:
    """Write the card with the version and date in releases.json, and return the manifest that lists it."""
    manifest = read_manifest(folder)
    if not (folder / RELEASES).is_file():
        return manifest
    write_text(folder / "README.md", release_card(folder, read_json(folder / RELEASES)))
    files = {**manifest.files, "README.md": file_facts(folder / "README.md")}
    manifest = replace(manifest, files=files)
    save_manifest(folder / _MANIFEST, manifest)
    return manifest


def release_card(folder: Path, releases: Sequence[Mapping[str, Any]]) -> str:
    """Return the card of the last release, or of the next one, without a date, if the files are not those."""
    corpus = BuiltCorpus(folder)
    last, synthetic = releases[-1], bool(corpus.manifest.config.get("synthetic"))
    recorded = last["hash"] == files_hash(corpus.manifest)
    number, date = (last["version"], last["date"]) if recorded else (last["version"] + 1, "")
    return corpus_card(folder, corpus.settings, corpus.manifest.drops, synthetic, number, date)


def copy_version(checkpoints: Checkpoints) -> Path:
    """Return a folder with the files of the current version, to be changed and published as another one."""
    fresh = checkpoints.fresh
    for name in read_json(checkpoints.out / CURRENT / _OWN_FILES):
        _link_files(checkpoints.out / CURRENT / name, fresh / name)
    return fresh


def _link_files(source: Path, target: Path) -> None:
    """Link a file or the files of a folder, or copy them where the file system has no links.

    A file of a version is never written in place, so both versions may share it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        for path in source.iterdir():
            _link_files(path, target / path.name)
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def switch_version(out: Path, fresh: Path) -> None:
    """Make a finished folder the current version by replacing one link; then remove the version before."""
    numbers = [int(path.name) for path in (out / VERSIONS).glob("*") if path.name.isdecimal()]
    version = out / VERSIONS / f"{max(numbers, default=0) + 1:06}"
    version.parent.mkdir(exist_ok=True)
    own = [path.relative_to(fresh).as_posix() for path in sorted(fresh.rglob("*")) if path.is_file()]
    write_json(fresh / _OWN_FILES, own)
    for path in fresh.rglob("*"):
        flush(path)
    fresh.rename(version)
    link_names(out, version)  # before the switch: a link that leads nowhere yet is seen by nobody
    link = out / f"{CURRENT}.new"
    link.unlink(missing_ok=True)
    link.symlink_to(f"{VERSIONS}/{version.name}")
    link.replace(out / CURRENT)
    remove_old_versions(out)


def link_names(out: Path, version: Path) -> None:
    """Make a link in the output folder for everything that a version has."""
    for path in version.iterdir():
        if not path.name.startswith(".") and not os.path.lexists(out / path.name):
            (out / path.name).symlink_to(f"{CURRENT}/{path.name}")


def remove_old_versions(out: Path) -> None:
    """Remove all versions but the current one, and links to what it does not have; keep the user's own files."""
    current = (out / CURRENT).resolve()
    for version in sorted((out / VERSIONS).glob("*")):
        if version.resolve() == current or not version.name.isdecimal():
            continue
        if (version / _OWN_FILES).is_file() and current.is_dir():
            own = {*read_json(version / _OWN_FILES), _OWN_FILES}
            for path in [path for path in version.rglob("*") if path.is_file()]:
                name = path.relative_to(version)
                if name.as_posix() not in own and not (current / name).exists():
                    (current / name).parent.mkdir(parents=True, exist_ok=True)
                    path.replace(current / name)
        shutil.rmtree(version)
    (out / f"{CURRENT}.new").unlink(missing_ok=True)
    for path in out.glob("*"):
        if path.is_symlink() and not path.exists() and not is_foreign(out, path.name):
            path.unlink()
    if current.is_dir():
        link_names(out, current)


def add_own_files(out: Path, folder: str) -> None:
    """Note that a folder of the current version is ours, so that it goes with that version."""
    current = out / CURRENT
    if current.is_symlink():
        own = {path.relative_to(current).as_posix() for path in (current / folder).rglob("*") if path.is_file()}
        write_json(current / _OWN_FILES, sorted({*read_json(current / _OWN_FILES), *own}))


def own_folder(out: Path, name: str) -> Path:
    """Return a folder of a corpus for derived files; it belongs to the current version if it is new."""
    if (out / CURRENT).is_symlink() and not os.path.lexists(out / name):
        (out / CURRENT / name).mkdir()
        link_names(out, out / CURRENT)
    return out / name


def files_hash(manifest: Manifest) -> str:
    """Return a hash of all files of a corpus but the card, which names the version that has this hash."""
    return key_hash({name: facts["sha256"] for name, facts in manifest.files.items() if name != "README.md"})


def output_places(out: Path | str, work: Path | None) -> tuple[Path, str]:
    """Return the local folder of a build, and the URL to copy it to, if `out` is one."""
    place: Place = as_place(str(out)) if is_url(str(out)) else Path(out)
    if not isinstance(place, RemoteFile):
        return place, ""
    if work is None:
        raise ConfigError(f"{out}: a URL needs a working folder that every worker can access: add --work DIR")
    return work, place.url.rstrip("/")


def check_url(url: str) -> None:
    """Raise an error if a URL has files that no build put there."""
    system, root = file_system(url)
    try:
        ours = any(system.exists(f"{root}/{name}") for name in (_MANIFEST, _STARTED))
        taken = [] if ours else system.find(root)
    except OSError as bad:
        raise DataError(f"{url}: cannot be listed ({bad}): check the address and the credentials") from None
    if taken:
        raise DataError(f"{url}: has files that are not ours, such as {taken[0]}: choose another --out")


def uploaded_tombstones(url: str) -> list[str]:
    """Return the tombstones of a corpus at a URL, which stay if its working folder is a new one."""
    if not url:
        return []
    system, root = file_system(url)
    path = f"{root}/{FORGOTTEN}"
    return list(json.loads(system.cat_file(path))["tombstones"]) if system.exists(path) else []


def upload_corpus(engine: Engine | None, out: Path, manifest: Manifest, url: str) -> None:
    """Copy the files of a finished corpus, unless the same corpus is there; with an engine, by its workers."""
    system, root = file_system(url)
    last = manifest_path(out).read_bytes()
    if system.exists(f"{root}/{_MANIFEST}") and system.cat_file(f"{root}/{_MANIFEST}") == last:
        return
    system.pipe_file(f"{root}/{_STARTED}", b"")
    if system.exists(f"{root}/{_MANIFEST}"):
        system.rm_file(f"{root}/{_MANIFEST}")
    wanted = {f"{root}/{name}" for name in (*manifest.files, _STARTED)}
    system.invalidate_cache()
    for old in system.find(root):
        if old not in wanted:
            system.rm_file(old)
    folder = out.resolve()
    jobs = [UploadJob(str(folder / name), f"{url}/{name}") for name in manifest.files]
    if engine:
        engine.run_jobs(upload_file, jobs)
    else:
        for job in jobs:
            upload_file(job)
    system.pipe_file(f"{root}/{_MANIFEST}", last)
    system.rm_file(f"{root}/{_STARTED}")


@dataclass(frozen=True, slots=True)
class UploadJob:
    """A file, and the URL it is copied to."""

    source: str
    url: str


def upload_file(job: UploadJob, report: Report = ignore) -> None:
    """Copy one file on any worker."""
    system, path = file_system(job.url)
    if "/" in path:
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
    try:
        system.put_file(job.source, path)
    except OSError as bad:
        raise DataError(f"{job.url}: cannot be written ({bad}): run the command again") from None
    report(0)
