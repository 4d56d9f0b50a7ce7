"""A copy of a finished corpus at a URL, one job per file; its manifest is written last."""

from __future__ import annotations

import json
from pathlib import Path

from deadpan.corpus.engines.engine import Engine, Watch, ignore
from deadpan.corpus.ingest.forget import FILE as FORGOTTEN
from deadpan.corpus.ingest.places import Place, RemoteFile, file_system, is_url, place_of
from deadpan.errors import ConfigError, DataError
from deadpan.storage import Manifest, manifest_path

STARTED = ".deadpan-upload"
MANIFEST = "manifest.json"


def output_places(out: Path | str, work: Path | None) -> tuple[Path, str]:
    """Return the local folder of a build, and the URL to copy it to, if `out` is one."""
    place: Place = place_of(str(out)) if is_url(str(out)) else Path(out)
    if not isinstance(place, RemoteFile):
        return place, ""
    if work is None:
        raise ConfigError(f"{out}: a URL needs a working folder that every worker can access: add --work DIR")
    return work, place.url.rstrip("/")


def check_url(url: str) -> None:
    """Raise an error if a URL has files that no build put there."""
    system, root = file_system(url)
    try:
        ours = any(system.exists(f"{root}/{name}") for name in (MANIFEST, STARTED))
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
    if system.exists(f"{root}/{MANIFEST}") and system.cat_file(f"{root}/{MANIFEST}") == last:
        return
    system.pipe_file(f"{root}/{STARTED}", b"")
    if system.exists(f"{root}/{MANIFEST}"):
        system.rm_file(f"{root}/{MANIFEST}")
    wanted = {f"{root}/{name}" for name in (*manifest.files, STARTED)}
    system.invalidate_cache()
    for old in system.find(root):
        if old not in wanted:
            system.rm_file(old)
    folder = out.resolve()
    engine.run_jobs(work, [json.dumps([str(folder / name), f"{url}/{name}"]) for name in manifest.files])
    system.pipe_file(f"{root}/{MANIFEST}", last)
    system.rm_file(f"{root}/{STARTED}")


def work(job: str, watch: Watch = ignore) -> None:
    """Copy one file on any worker."""
    source, url = json.loads(job)
    system, path = file_system(url)
    if "/" in path:
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
    try:
        system.put_file(source, path)
    except OSError as bad:
        raise DataError(f"{url}: cannot be written ({bad}): run the command again") from None
    watch(job, 0)
