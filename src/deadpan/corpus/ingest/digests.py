"""Hashes of dumps, which are part of the keys of units; an unchanged file is not hashed again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadpan.corpus.engines.engine import Engine, Watch, ignore
from deadpan.corpus.ingest.dumps import Dump
from deadpan.corpus.ingest.places import digest_at, mark_of, place_of
from deadpan.storage import read_json, write_json

DIGESTS = "digests.json"


def work(job: str, watch: Watch = ignore) -> None:
    """Hash one dump on any worker; the result is a small file."""
    path, target = json.loads(job)
    write_json(Path(target), digest_at(place_of(path)))
    watch(job, 0)


def hash_dumps(engine: Engine, root: Path, scratch: Path, dumps: Sequence[Dump]) -> list[tuple[str, int]]:
    """Return, for each dump, its hash and how many dumps up to it have this hash."""
    known: dict[str, list[Any]] = read_json(root / DIGESTS) if (root / DIGESTS).is_file() else {}
    marks = {str(dump.path.resolve()): mark_of(dump.path) for dump in dumps}
    unknown = [place for place, mark in marks.items() if known.get(place, [])[:2] != mark]
    targets = [scratch / f"digest-{number}.json" for number in range(len(unknown))]
    jobs = [
        json.dumps([place, str(target.resolve())]) for place, target in zip(unknown, targets, strict=True)
    ]
    engine.run_jobs(work, jobs, at_once=engine.share(len(jobs)).at_once)
    fresh = {place: read_json(target) for place, target in zip(unknown, targets, strict=True)}
    found = {place: [*mark, fresh.get(place) or known[place][2]] for place, mark in marks.items()}
    if found != known:
        write_json(root / DIGESTS, found)
    seen: Counter[str] = Counter()
    hashes = []
    for dump in dumps:
        sha256 = found[str(dump.path.resolve())][2]
        seen[sha256] += 1
        hashes.append((sha256, seen[sha256]))
    return hashes
