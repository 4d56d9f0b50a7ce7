"""Publication of a finished build: files are moved into place, and the manifest is written last."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.corpus.account import UNREADABLE
from deadpan.corpus.benchmark import INDEXES
from deadpan.corpus.checkpoints import Checkpoints, file_facts, key_hash
from deadpan.corpus.engines.engine import Engine, Report, ignore
from deadpan.corpus.lines import Place, RemoteFile, as_place, file_system, is_url
from deadpan.corpus.rules import FORGOTTEN
from deadpan.corpus.settings import BuildOptions, CorpusSettings
from deadpan.corpus.write import MONTHS_FOLDER
from deadpan.errors import ConfigError, DataError
from deadpan.storage import Manifest, manifest_path, read_json, read_manifest, save_manifest, write_json

OPTIONAL_FILES = (UNREADABLE, FORGOTTEN)
RELEASES = "releases.json"
_PUBLISHED = "published.json"
_COMMANDS = ("corpus build", "corpus update")
_STARTED = ".deadpan-upload"
_MANIFEST = "manifest.json"


def check_output(checkpoints: Checkpoints, settings: CorpusSettings, options: BuildOptions) -> None:
    """Raise an error if the output folder has files that this build would replace, and no build wrote."""
    out = checkpoints.out
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: a file of that name exists: choose another folder")
    # The manifest, or the list of an interrupted publication, says which files are ours.
    ours = set(published(checkpoints))
    if manifest_path(out).is_file():
        manifest = read_manifest(out, any_version=True)
        ours |= {*manifest.files, "manifest.json"} if manifest.command in _COMMANDS else set()
    planned = [*OPTIONAL_FILES, "manifest.json", *planned_files(settings, options.packed)]
    planned += [path.relative_to(out).as_posix() for path in (out / MONTHS_FOLDER).glob("month=*/sarc.parquet")]
    found = [name for name in planned if (out / name).exists() and name not in ours]
    found += [path.relative_to(out).as_posix() for path in checkpoints.foreign()]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise DataError(f"{out / found[0]}{more}: not written by deadpan, so not overwritten: choose another --out")


def planned_files(settings: CorpusSettings, packed: bool) -> list[str]:
    """Return the names of the files that every build writes, besides its manifest and a file per month."""
    texts = ["raw/sarc.csv", "raw/sarc.tsv", "raw/sequences.csv", "raw/comments.json"]
    for folder in ("main", *settings.benchmark.subsets):
        texts += [f"{folder}/comments.json", *(f"{folder}/{index}.csv" for index in INDEXES)]
    suffix = ".bz2" if packed else ""
    return ["README.md", "stats.json", "raw/sarc.parquet", *(f"{name}{suffix}" for name in texts)]


def publish(
    checkpoints: Checkpoints, fresh: Path, known_files: Mapping[str, dict[str, Any]], **account: Any
) -> Manifest:
    """Move finished files into place, remove those of an earlier build, and write the manifest last.

    `known_files` are sizes and hashes that the jobs computed; `account` is what the manifest says besides the
    files: config, seed, inputs, counts and drops.
    """
    out = checkpoints.out
    names = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
    files = {name: known_files.get(name) or file_facts(fresh / name) for name in names}
    known = [*published(checkpoints), *_benchmarks_after(out)]
    write_json(checkpoints.root / _PUBLISHED, sorted({*known, *names}))
    manifest_path(out).unlink(missing_ok=True)  # until all files are those of this build
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(out / name)
    for name in sorted(set(known) - set(names)):
        (out / name).unlink(missing_ok=True)
    _remove_empty_folders(out, known)
    shutil.rmtree(fresh)
    checkpoints.remove_unused()
    manifest = Manifest(command="corpus build", files=files, **account)
    save_manifest(manifest_path(out), manifest)
    write_json(checkpoints.root / _PUBLISHED, names)
    return manifest


def files_hash(manifest: Manifest) -> str:
    """Return a hash of all files of a corpus."""
    return key_hash({name: facts["sha256"] for name, facts in manifest.files.items()})


def published(checkpoints: Checkpoints) -> list[str]:
    """Return the files of the output folder that a build wrote, and so may replace or remove."""
    path = checkpoints.root / _PUBLISHED
    return list(read_json(path)) if path.is_file() else []


def remember_published(checkpoints: Checkpoints, names: Iterable[str]) -> None:
    """Note more files of the output folder, so that a later build with other data removes them."""
    if checkpoints.root.is_dir():
        write_json(checkpoints.root / _PUBLISHED, sorted({*published(checkpoints), *names}))


def _benchmarks_after(out: Path) -> list[str]:
    """Return the files of after-cutoff benchmarks of an earlier version, which may have withdrawn texts."""
    found = []
    for path in out.glob("after-*/manifest.json"):
        try:
            manifest = read_manifest(path.parent, any_version=True)
        except DataError:  # somebody else's
            continue
        if manifest.command in _COMMANDS:
            found += [path, *(path.parent / name for name in manifest.files if Path(name).name == name)]
    return [path.relative_to(out).as_posix() for path in found]


def _remove_empty_folders(out: Path, known: Sequence[str]) -> None:
    folders = {parent for name in known for parent in Path(name).parents if parent.name}
    for folder in sorted(folders, key=lambda one: -len(one.parts)):
        if (out / folder).is_dir() and not any((out / folder).iterdir()):
            (out / folder).rmdir()


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


def upload_corpus(engine: Engine, out: Path, manifest: Manifest, url: str) -> None:
    """Copy the files of a finished corpus, unless the same corpus is there."""
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
    engine.run_jobs(upload_file, jobs)
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
