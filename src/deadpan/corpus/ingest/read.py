"""One dump to Parquet: decoder -> temporary file -> DuckDB, which parses JSON and applies the text rules.

`work` reads a whole dump on any worker. It only needs the arguments in its job.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.checkpoints import disk_full, finish_step, start_step
from deadpan.corpus.engines.duckdb import connect, is_disk_full
from deadpan.corpus.engines.engine import Watch, ignore
from deadpan.corpus.ingest.decoders import BLOCK
from deadpan.corpus.ingest.dumps import Dump
from deadpan.corpus.ingest.forget import Forgotten
from deadpan.corpus.ingest.lines import OBJECT_SIZE, Lines, open_lines, raw_lines
from deadpan.corpus.ingest.places import place_of
from deadpan.corpus.ingest.rules import comments_query, posts_query
from deadpan.corpus.ingest.spool import Spool
from deadpan.corpus.ingest.units import ROWS, UNIT, row_files
from deadpan.corpus.settings import TextRules
from deadpan.corpus.sql import PARQUET_OPTIONS, literal, literals
from deadpan.errors import DataError
from deadpan.fields import decode
from deadpan.storage import write_json

PLACES = 100  # line numbers of unreadable lines that are kept; all lines are counted
PART = 64 << 20  # bytes of a dump that are parsed at once


@dataclass(frozen=True, slots=True)
class ReadJob:
    """Arguments of `work`: a dump, the folder of its unit, and everything the unit depends on."""

    path: str
    kind: str
    folder: str
    key: dict[str, Any]
    tombstones: tuple[str, ...]
    allow_truncated: bool
    memory: str
    at_once: int
    scratch: str

    def text(self) -> str:
        return json.dumps(asdict(self), default=list)


def work(job: str, watch: Watch = ignore) -> None:
    """Read one dump into its unit, which gets its name when everything is on disk."""
    task = ReadJob(**json.loads(job))
    folder = Path(task.folder)
    temporary = start_step(folder)
    Path(task.scratch).mkdir(parents=True, exist_ok=True)
    with closing(connect(task.memory, Path(task.scratch), read_threads(task.at_once))) as connection:
        _Reading(task, connection, job, watch).run(temporary)
    finish_step(temporary, folder, task.key)


class _Reading:
    """The reading of one dump."""

    def __init__(self, task: ReadJob, connection: duckdb.DuckDBPyConnection, job: str, watch: Watch) -> None:
        self.task = task
        self.dump = Dump(place_of(task.path), "comments" if task.kind == "comments" else "posts")
        self.rules = decode(task.key["rules"], TextRules)
        self.connection = connection
        self.forgotten = Forgotten(task.tombstones)
        self.table = self.forgotten.load(connection)
        self.job = job
        self.watch = watch

    def run(self, folder: Path) -> None:
        with open_lines(self.dump.path) as lines:
            parts = []
            for number, spool in enumerate(self._parts(lines)):
                parts.append(self._write(spool, folder / ROWS.replace("*", f"{number:05}")))
                self.watch(self.job, lines.position)
            damage = lines.decoder.damage()
        if damage and not self.task.allow_truncated:
            raise DataError(
                f"{self.dump.path}: truncated or damaged ({damage}): download it again, or use the whole "
                f"lines before the damage with --allow-truncated"
            )
        write_json(folder / UNIT, self._counts(lines, row_files(folder), parts, damage))

    def _parts(self, lines: Lines) -> Iterator[Spool]:
        """Yield the parts of a dump as files; the next one is decompressed while one is parsed."""
        with self._spools() as spools, ThreadPoolExecutor(1) as ahead:
            number, filling = 0, ahead.submit(lines.fill, spools[0], PART)
            while True:
                filling.result()
                spool, ended = spools[number % 2], lines.ended
                number += 1
                if not ended:
                    filling = ahead.submit(lines.fill, spools[number % 2], PART)
                yield spool
                if ended:
                    return

    @contextmanager
    def _spools(self) -> Iterator[Sequence[Spool]]:
        room = PART + 2 * OBJECT_SIZE + BLOCK
        spools: list[Spool] = []
        try:
            spools += [Spool(Path(self.task.scratch), room) for _ in range(2)]
            yield spools
        finally:
            for spool in spools:
                spool.close()

    def _write(self, spool: Spool, target: Path) -> int:
        query = comments_query if self.dump.kind == "comments" else posts_query
        copy = f"COPY ({query(spool.path, self.rules, self.table)}) TO {literal(str(target))}"
        try:
            return int(self.connection.execute(f"{copy} ({PARQUET_OPTIONS})").fetchall()[0][0])
        except duckdb.InterruptException:
            raise
        except duckdb.Error as bad:
            raise _readable_error(self.dump, bad, Path(self.task.folder).parent.parent) from None

    def _counts(
        self, lines: Lines, files: Sequence[Path], parts: Sequence[int], damage: str
    ) -> dict[str, Any]:
        """Return the counts of a unit, and the line numbers of the first unreadable lines."""
        source = f"read_parquet({literals(files)}, file_row_number=true, filename=true)"
        months = self.connection.execute(
            f"SELECT month, count(*) FROM {source} WHERE id IS NOT NULL GROUP BY month ORDER BY month"
        ).fetchall()
        readable = sum(count for _, count in months)
        unreadable = sum(parts) - readable
        first = self._first_unreadable(source, files, parts) if unreadable else []
        cut = self._is_cut(lines, source, files)
        numbers = [row + 1 for row in first]
        if first and lines.count != sum(parts):  # with blank or long lines, rows and line numbers differ
            numbers = [number for _, number, _ in raw_lines(self.dump.path, first)]
        stones = f"SELECT tombstone, count(*) FROM {source} WHERE tombstone IS NOT NULL GROUP BY 1 ORDER BY 1"
        return {
            "months": {str(month): count for month, count in months},
            "unreadable": unreadable + len(lines.too_long),
            "lines": sorted([*numbers, *lines.too_long])[:PLACES],
            "forgotten": dict(self.connection.execute(stones).fetchall()) if self.forgotten else {},
            "damage": damage or ("ends in the middle of a line" if cut else ""),
            "parts": list(parts),
        }

    def _first_unreadable(self, source: str, files: Sequence[Path], parts: Sequence[int]) -> list[int]:
        starts = dict(zip(map(str, files), accumulate(parts, initial=0), strict=False))
        found = self.connection.execute(
            f"SELECT filename, file_row_number FROM {source} WHERE id IS NULL ORDER BY ALL LIMIT {PLACES}"
        ).fetchall()
        return sorted(starts[file] + row for file, row in found)

    def _is_cut(self, lines: Lines, source: str, files: Sequence[Path]) -> bool:
        """Return whether a plain file ends in the middle of a line; an error unless that is allowed."""
        if self.dump.packed or lines.last == ord("\n") or not files:
            return False
        last = f"FROM read_parquet({literals(files[-1:])}, file_row_number=true)"
        ends = self.connection.execute(f"SELECT id {last} ORDER BY file_row_number DESC LIMIT 1").fetchall()
        cut = bool(ends and ends[0][0] is None)
        if cut and not self.task.allow_truncated:
            raise DataError(
                f"{self.dump.path}: ends in the middle of a line: download it again, or skip that line "
                f"with --allow-truncated"
            )
        return cut


def read_threads(at_once: int) -> int:
    """Return the threads of DuckDB on this machine for each of several dumps that are read at once."""
    return max(1, (os.cpu_count() or 1) // at_once)


def _readable_error(dump: Dump, error: duckdb.Error, out: Path) -> DataError:
    """Return an error of DuckDB as one that names the dump and the cure."""
    text = " ".join(str(error).split())
    if is_disk_full(text):
        return disk_full(out)
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(f"{dump.path}: not enough memory to read it: allow more with --memory")
    return DataError(f"{dump.path}: cannot be read ({text[:200]})")
