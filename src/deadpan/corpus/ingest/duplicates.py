"""Deduplication by id: the best copy of a comment stays, the others are dropped.

The best copy is the greatest by (time of retrieval, `_meta` says deleted or removed later, not deleted, bytes
of the raw line): a comment that its author deleted after it was first retrieved stays deleted, as
`deleted_later`. Raw lines are read again from their dumps only if they decide: if copies tie and differ in a
column. All of it runs as jobs, since dumps may have as many copies as comments.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints, fingerprint
from deadpan.corpus.engines.engine import Engine, Work, count_rows
from deadpan.corpus.ingest import copies
from deadpan.corpus.ingest.copies import CONTESTED, FACTS, CopiesJob
from deadpan.corpus.ingest.dumps import Dump
from deadpan.corpus.ingest.units import Unit
from deadpan.corpus.sql import parquet_files, parts_of
from deadpan.storage import read_json


@dataclass(frozen=True, slots=True)
class UniqueUnits:
    """Units in which every id occurs once, and the number of copies dropped by month."""

    units: list[Unit]
    dropped: Counter[int]


def deduplicate(
    checkpoints: Checkpoints, engine: Engine, units: Sequence[Unit], dumps: Sequence[Dump]
) -> UniqueUnits:
    """Return units of one kind without duplicates. Units without a dropped copy are unchanged."""
    repeated = _repeated_ids(checkpoints, engine, units)
    if repeated is None:
        return UniqueUnits(list(units), Counter())

    def make(folder: Path) -> None:
        _Copies(engine, units, dumps, checkpoints.scratch.resolve()).write(repeated, folder)

    # Of copies that do not differ, that of the first unit stays, so the order matters.
    folder = checkpoints.step(f"copies_{units[0].kind}", [unit.key for unit in units], make)
    clean = [_without_losers(unit, folder / unit.key) for unit in units]
    dropped: Counter[int] = Counter()
    for unit, left in zip(units, clean, strict=True):
        dropped.update({month: n - left.months.get(month, 0) for month, n in unit.months.items()})
    return UniqueUnits(clean, +dropped)


def _repeated_ids(checkpoints: Checkpoints, engine: Engine, units: Sequence[Unit]) -> Path | None:
    """Return a folder of the ids that occur more than once; None if there are none."""
    if not units:
        return None
    ids = engine.scan([file for unit in units for file in unit.rows]).filter(~nw.col("id").is_null())
    often = ids.group_by("id").agg(count=nw.len()).filter(nw.col("count") > 1).select("id")
    folder = checkpoints.step(
        f"repeated_{units[0].kind}",
        sorted(unit.key for unit in units),
        lambda folder: engine.save(often, folder),
    )
    return folder if count_rows(engine, folder) else None


class _Copies:
    """The choice between all copies, as rounds of jobs: by dump, by id, by dump and by id again, by dump."""

    def __init__(self, engine: Engine, units: Sequence[Unit], dumps: Sequence[Dump], scratch: Path) -> None:
        self.engine = engine
        self.units = units
        self.dumps = dumps
        self.share = engine.share(len(units))
        self.scratch = scratch
        self.folder = scratch / f"copies-{units[0].kind}"

    def write(self, repeated: Path, target: Path) -> None:
        """Write, for each unit with a copy, the ids to exclude and the rows to use instead."""
        self._by_unit(copies.find, "found", source=str(repeated.resolve()))
        self._by_id(copies.compare, "found", "winners/")
        if count_rows(self.engine, self.folder / CONTESTED):
            self._by_unit(copies.look_up, "lines", source=str(self.folder / CONTESTED))
            self._by_id(copies.choose, "lines", "winners/raw-")
        found = {"source": str(self.folder / "winners"), "copies": str(self.folder / "found")}
        jobs = [
            self._job(target=str(target.resolve() / unit.key), **self._unit(number), **found)
            for number, unit in enumerate(self.units)
        ]
        self._run(copies.keep, jobs)
        shutil.rmtree(self.folder)

    def _by_unit(self, work: Work, name: str, **what: Any) -> None:
        """Run a job for each unit, which writes a file."""
        jobs = [
            self._job(target=f"{self.folder}/{name}/{number:05}.parquet", **self._unit(number), **what)
            for number in range(len(self.units))
        ]
        self._run(work, jobs)

    def _by_id(self, work: Work, name: str, target: str) -> None:
        """Run a job for some ids each, with all rows of these in a folder of files."""
        rows = self.engine.scan(parquet_files(self.folder / name))
        parts = self.folder / f"{name}-by-id"
        self.engine.scatter(rows, parts, "id", self.engine.job_bytes)
        jobs = [
            self._job(source=str(source), target=f"{self.folder}/{target}{number:05}.parquet")
            for number, source in enumerate(parts_of(parts))
        ]
        self._run(work, jobs)
        shutil.rmtree(parts)

    def _run(self, work: Work, jobs: Sequence[str]) -> None:
        self.engine.run_jobs(work, jobs, at_once=self.share.at_once)

    def _unit(self, number: int) -> dict[str, Any]:
        unit = self.units[number]
        starts = [(str(file.resolve()), start) for file, start in unit.starts.items()]
        dump = str(self.dumps[number].path.resolve())
        return {"unit": number, "kind": unit.kind, "dump": dump, "starts": starts}

    def _job(self, **what: Any) -> str:
        share, scratch = self.share, str(self.scratch)
        return CopiesJob(memory=share.memory, threads=share.threads, scratch=scratch, **what).text()


def _without_losers(unit: Unit, folder: Path) -> Unit:
    """Return a unit with the ids to exclude from its rows, and the rows to use instead.

    Rewriting all its other rows would take longer than everything that follows.
    """
    if not (folder / FACTS).is_file():
        return unit
    facts = read_json(folder / FACTS)
    months = Counter(unit.months)
    months.subtract({int(month): count for month, count in facts["dropped"].items()})
    changed = facts["dropped"] or (unit.kind == "comments" and facts["rows"]["late"][0])
    return replace(
        unit,
        # If the unit only has winners, later steps need not run again.
        key=f"{unit.key}-{fingerprint(facts['rows'])}" if changed else unit.key,
        copies=folder,
        months={month: count for month, count in months.items() if count},
    )
