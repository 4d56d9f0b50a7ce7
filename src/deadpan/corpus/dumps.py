"""Dump files: found by name, told apart as comments or submissions, and hashed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deadpan.corpus.engines.engine import Engine, Report, ignore
from deadpan.corpus.lines import (
    DECODERS,
    Place,
    RemoteFile,
    as_place,
    digest_at,
    find_remote,
    mark_of,
    open_lines,
    read_beside,
)
from deadpan.corpus.settings import month_number
from deadpan.errors import ConfigError, DataError
from deadpan.storage import read_json, write_json

Kind = Literal["comments", "posts"]

_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("comments", re.compile(r"^RC_|_comments\b", re.IGNORECASE)),
    ("posts", re.compile(r"^RS_|_submissions\b", re.IGNORECASE)),
)
_MONTH = re.compile(r"^R[CS]_(\d{4}-\d{2})(?!\d)", re.IGNORECASE)
_OURS = ("manifest.json",)  # written by `corpus synthesize`


@dataclass(frozen=True, slots=True)
class Dump:
    """One file of comments or posts."""

    path: Place
    kind: Kind

    @property
    def size(self) -> int:
        return int(mark_of(self.path)[0])

    @property
    def packed(self) -> bool:
        return self.path.suffix.lower() in DECODERS

    @property
    def named_month(self) -> int | None:
        """Month in its name, such as 200901 for RC_2009-01.zst; its comments may be from other months."""
        found = _MONTH.match(self.path.name)
        try:
            return month_number(found[1]) if found else None
        except ConfigError:
            return None


def find_dumps(patterns: Sequence[str]) -> tuple[list[Dump], list[Place]]:
    """Return the dumps that match files, folders, globs or URLs, sorted by name, each once, and the rest.

    Folders are searched to any depth. What they have besides dumps is left out; a file that was named is not.
    """
    paths: dict[Place, Place] = {}
    skipped: dict[Place, Place] = {}
    for pattern in patterns:
        place = as_place(pattern)
        for found in _matching(place):
            left_out = str(found) != str(place) and _kind(found) is None and _searched(place)
            (skipped if left_out else paths).setdefault(found.resolve(), found)
    if not paths:
        asked = ", ".join(patterns) or "nothing"
        raise DataError(f"no dumps match {asked}: give RC_ and RS_ files, or their folder")
    ordered = sorted(paths.values(), key=lambda path: (path.name, str(path)))
    dumps = []
    for path in ordered:
        kind = _kind(path)
        if kind is None:
            raise DataError(f"{path}: not a dump: its first line is not a comment or submission in JSON")
        dumps.append(Dump(path, kind))
    if not any(dump.kind == "comments" for dump in dumps):
        raise DataError(f"only submissions in {', '.join(patterns)}: a corpus needs RC_ files of comments")
    return dumps, sorted((path for place, path in skipped.items() if place not in paths), key=str)


def file_names(patterns: Sequence[str]) -> set[str]:
    """Return the names of all files that match files, folders, globs or URLs."""
    return {found.name for pattern in patterns for found in _matching(as_place(pattern))}


def any_synthetic(dumps: Sequence[Dump]) -> bool:
    """Return whether `corpus synthesize` wrote one of the dumps, by the manifests in their folders."""
    one_of_each = {str(dump.path).removesuffix(dump.path.name): dump.path for dump in dumps}
    return any(_is_synthetic(place) for place in one_of_each.values())


def _is_synthetic(place: Place) -> bool:
    try:
        manifest = json.loads(read_beside(place, "manifest.json") or b"{}")
    except (ValueError, RecursionError):  # somebody else's manifest.json
        return False
    return isinstance(manifest, dict) and manifest.get("command") == "corpus synthesize"


def _searched(place: Place) -> bool:
    """Return whether a place is a folder, which may have other files than dumps."""
    return place.is_dir() if isinstance(place, Path) else not any(sign in place.url for sign in "*?[")


def _matching(path: Place) -> Sequence[Place]:
    if isinstance(path, RemoteFile):
        found = find_remote(path.url)
        return [one for one in found if not one.name.startswith(".") and one.name not in _OURS]
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.is_file() and not _is_hidden(one, path))
    if path.exists():
        return [path]
    root = path.anchor or "."
    return [found for found in Path(root).glob(str(path.relative_to(path.anchor))) if found.is_file()]


def _is_hidden(path: Path, root: Path) -> bool:
    return path.name in _OURS or any(part.startswith(".") for part in path.relative_to(root).parts)


def _kind(path: Place) -> Kind | None:
    """Return the kind by the name of a file, else by its first line; None if it is not a dump."""
    for kind, name in _NAMES:
        if name.search(path.name):
            return kind
    with open_lines(path) as lines:
        first = lines.head()
    if b'"body"' in first:
        return "comments"
    return "posts" if b'"title"' in first else None


DIGESTS = "digests.json"


def hash_dumps(engine: Engine, root: Path, scratch: Path, dumps: Sequence[Dump]) -> list[tuple[str, int]]:
    """Return, for each dump, its hash and how many dumps up to it have this hash.

    The hashes are kept in a file: a dump whose size and time have not changed is not hashed again.
    """
    known: dict[str, list[Any]] = read_json(root / DIGESTS) if (root / DIGESTS).is_file() else {}
    marks = {str(dump.path.resolve()): mark_of(dump.path) for dump in dumps}
    new = [place for place, mark in marks.items() if known.get(place, [])[:2] != mark]
    jobs = [HashJob(place, str((scratch / f"digest-{at}.json").resolve())) for at, place in enumerate(new)]
    engine.run_jobs(hash_dump, jobs, at_once=engine.share(len(jobs)).at_once)
    fresh = {job.dump: read_json(Path(job.target)) for job in jobs}
    found = {place: [*mark, fresh.get(place) or known[place][2]] for place, mark in marks.items()}
    if not found.items() <= known.items():  # others stay: a run that was interrupted may have had other dumps
        write_json(root / DIGESTS, {**known, **found})
    hashes = [found[str(dump.path.resolve())][2] for dump in dumps]
    return [(sha256, hashes[: at + 1].count(sha256)) for at, sha256 in enumerate(hashes)]


def known_dumps(root: Path, inputs: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Return where the dumps of a corpus are, by the hashes in its manifest.

    The other lists are the names of dumps that are no longer there, and of those that were never read here.
    """
    known: dict[str, list[Any]] = read_json(root / DIGESTS) if (root / DIGESTS).is_file() else {}
    places: dict[str, list[str]] = {}
    for place, (*_, sha256) in known.items():
        there = places.setdefault(sha256, [])
        there += [place] if as_place(place).is_file() else []
    found, gone, unknown = list[str](), list[str](), list[str]()
    for name, sha256 in inputs.items():
        if places.get(sha256):
            found.append(places[sha256].pop(0))
        else:
            (gone if sha256 in places else unknown).append(name)
    return found, gone, unknown


@dataclass(frozen=True, slots=True)
class HashJob:
    """A dump to hash, and the small file for the result."""

    dump: str
    target: str


def hash_dump(job: HashJob, report: Report = ignore) -> None:
    """Hash one dump on any worker."""
    write_json(Path(job.target), digest_at(as_place(job.dump)))
    report(0)
