"""One dump to Parquet: decoder -> temporary file -> DuckDB, which parses JSON and applies the text rules.

`work` reads a whole dump on any worker. It only needs the arguments in its job.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
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
from deadpan.storage import write_json
from deadpan.validation import decode

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
    threads: int
    scratch: str

    def text(self) -> str:
        return json.dumps(asdict(self), default=list)


def work(job: str, watch: Watch = ignore) -> None:
    """Read one dump into its unit, which gets its name when everything is on disk."""
    task = ReadJob(**json.loads(job))
    folder = Path(task.folder)
    temporary = start_step(folder)
    Path(task.scratch).mkdir(parents=True, exist_ok=True)
    with closing(connect(task.memory, Path(task.scratch), task.threads)) as connection:
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
        parts: list[int] = []
        room = PART + 2 * OBJECT_SIZE + BLOCK
        with open_lines(self.dump.path) as lines, closing(Spool(Path(self.task.scratch), room)) as spool:
            while not lines.ended:
                lines.fill(spool, PART)
                parts.append(self._write(spool, folder / ROWS.replace("*", f"{len(parts):05}")))
                self.watch(self.job, lines.position)
            damage = lines.decoder.damage
        if damage and not self.task.allow_truncated:
            raise DataError(
                f"{self.dump.path}: truncated or damaged ({damage}): download it again, or use the whole "
                f"lines before the damage with --allow-truncated"
            )
        write_json(folder / UNIT, self._counts(lines, row_files(folder), parts, damage))

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


def _readable_error(dump: Dump, error: duckdb.Error, out: Path) -> DataError:
    """Return an error of DuckDB as one that names the dump and says what to do."""
    text = " ".join(str(error).split())
    if is_disk_full(text):
        return disk_full(out)
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(f"{dump.path}: not enough memory to read it: allow more with --memory")
    return DataError(f"{dump.path}: cannot be read ({text[:200]})")
