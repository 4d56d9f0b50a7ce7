"""Deduplication by id: the best copy of a comment stays, the others are dropped.

The best copy is the greatest by (time of retrieval, `_meta` says deleted or removed later, not deleted, bytes
of the raw line): a comment that its author deleted after it was first retrieved stays deleted, as
`deleted_later`. Raw lines are read again from their dumps only if they decide: if copies tie and differ in a
column. All of it runs as jobs, since dumps may have as many copies as comments.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import Checkpoints, attempt, key_hash
from deadpan.corpus.dumps import Dump
from deadpan.corpus.engines.duckdb import PARQUET_OPTIONS, job_connection, literal, literals, read_folder
from deadpan.corpus.engines.engine import (
    Engine,
    JobFunction,
    Report,
    Share,
    count_rows,
    ignore,
    parquet_files,
    parts_of,
)
from deadpan.corpus.lines import as_place, raw_lines
from deadpan.corpus.rows import BEST_COPIES, REPEATED_IDS, Unit
from deadpan.corpus.rules import DELETED_LATER, RANK_GONE, RANK_HAS_TEXT
from deadpan.storage import read_json, write_json

_FACTS, _CONTESTED = "facts.json", "contested"
LINES_BYTES, LINES_ROWS = 16 << 20, 1_000  # of raw lines, before they are written
_LINES = pa.schema(
    [("id", pa.string()), ("late", pa.bool_()), ("unit", pa.int32()), ("row", pa.int64()),
     ("line", pa.binary())]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UniqueUnits:
    """Units in which every id occurs once, and the number of copies dropped by month."""

    units: list[Unit]
    dropped: Counter[int]


def deduplicate(checkpoints: Checkpoints, engine: Engine, units: Sequence[Unit], dumps: Sequence[Dump]) -> UniqueUnits:
    """Return units of one kind without duplicates. Units without a dropped copy are unchanged."""
    repeated = _repeated_ids(checkpoints, engine, units)
    if repeated is None:
        return UniqueUnits(list(units), Counter())

    def make(folder: Path) -> None:
        _write_best(engine, units, dumps, checkpoints.scratch.resolve(), repeated, folder)

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
        f"repeated_{units[0].kind}", sorted(unit.key for unit in units), lambda folder: engine.save(often, folder)
    )
    return folder if count_rows(engine, folder) else None


def _write_best(
    engine: Engine, units: Sequence[Unit], dumps: Sequence[Dump], scratch: Path, repeated: Path, target: Path
) -> None:
    """Write, for each unit with a copy, the ids to exclude and the rows to use instead.

    Rounds of jobs: by unit, by id, by unit and by id again for contested copies, by unit.
    """
    work = scratch / f"copies-{units[0].kind}"
    share = engine.share(len(units))

    def by_unit(function: JobFunction, source: Path, where: Callable[[int, Unit], Path]) -> None:
        jobs = [
            CopiesJob(
                str(source.resolve()), str(where(number, unit)), share, str(scratch), number, unit.kind,
                str(dumps[number].path.resolve()), str(work / "found"),
                tuple(RowFile(str(file.resolve()), start) for file, start in unit.starts.items()),
            )
            for number, unit in enumerate(units)
        ]  # fmt: skip
        engine.run_jobs(function, jobs, at_once=share.at_once)

    def by_id(function: JobFunction, name: str, prefix: str) -> None:
        parts = work / f"{name}-by-id"
        engine.scatter(engine.scan(parquet_files(work / name)), parts, "id", engine.job_bytes)
        jobs = [
            CopiesJob(str(source), f"{work}/winners/{prefix}{number:05}.parquet", share, str(scratch))
            for number, source in enumerate(parts_of(parts))
        ]
        engine.run_jobs(function, jobs, at_once=share.at_once)
        shutil.rmtree(parts)

    by_unit(list_copies, repeated, lambda number, unit: work / "found" / f"{number:05}.parquet")
    by_id(compare_copies, "found", "")
    if count_rows(engine, work / _CONTESTED):
        by_unit(read_contested, work / _CONTESTED, lambda number, _: work / "lines" / f"{number:05}.parquet")
        by_id(choose_contested, "lines", "raw-")
    by_unit(keep_best, work / "winners", lambda _, unit: target.resolve() / unit.key)
    shutil.rmtree(work)


def _without_losers(unit: Unit, folder: Path) -> Unit:
    """Return a unit with the ids to exclude from its rows, and the rows to use instead.

    Rewriting all its other rows would take longer than everything that follows.
    """
    if not (folder / _FACTS).is_file():
        return unit
    facts = read_json(folder / _FACTS)
    months = Counter(unit.months)
    months.subtract({int(month): count for month, count in facts["dropped"].items()})
    changed = facts["dropped"] or (unit.kind == "comments" and facts["rows"]["late"][0])
    return replace(
        unit,
        # If the unit only has winners, later steps need not run again.
        key=f"{unit.key}-{key_hash(facts['rows'])}" if changed else unit.key,
        copies=folder,
        months={month: count for month, count in months.items() if count},
    )


# ---------------------------------------------------------------- jobs, each of one unit or of some ids


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows, and the number of rows of its unit before it."""

    path: str
    start: int


@dataclass(frozen=True, slots=True)
class CopiesJob:
    """The source and target of a job; if it is about one unit, its number, kind, dump and files of rows."""

    source: str
    target: str
    share: Share
    scratch: str
    unit: int = 0
    kind: str = ""
    dump: str = ""
    copies: str = ""
    files: tuple[RowFile, ...] = ()


def _copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    with attempt(target) as path:
        connection.execute(f"COPY ({query}) TO {literal(str(path))} ({PARQUET_OPTIONS})")


def list_copies(job: CopiesJob, report: Report = ignore) -> None:
    """List the rows of a unit whose id occurs more than once, without their texts."""
    with job_connection(job.share, job.scratch) as connection:
        rows = _numbered_rows(connection, job)
        first = f"read_parquet({literals([Path(job.files[0].path)])})"
        names = [name for name, *_ in connection.execute(f"DESCRIBE FROM {first}").fetchall()]
        content = f"md5(CAST(to_json(struct_pack({', '.join(names)})) AS VARCHAR))"
        query = f"""
        SELECT {job.unit} AS unit, start + file_row_number AS row, {content} AS content, id, rank, month
        FROM {rows}
        WHERE id IN (SELECT id FROM {read_folder(Path(job.source))})
        """
        _copy(connection, query, Path(job.target))
    report(0)


def compare_copies(job: CopiesJob, report: Report = ignore) -> None:
    """Choose the best copies of some ids; those that tie and differ go into a folder beside the target's."""
    with job_connection(job.share, job.scratch) as connection:
        connection.execute(f"""
        CREATE TEMP TABLE tied AS
        WITH copies AS (
          FROM {read_folder(Path(job.source))}
        ), best AS (
          SELECT id, max(rank) AS best, bool_or({RANK_HAS_TEXT}) AND arg_max({RANK_GONE}, rank) AS late
          FROM copies GROUP BY id
        )
        SELECT id, unit, row, content, late FROM copies JOIN best USING (id) WHERE rank = best
        """)
        same = "SELECT id FROM tied GROUP BY id HAVING count(DISTINCT content) = 1"
        winners = f"""
        SELECT id, late, unit, row FROM tied WHERE id IN ({same})
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY unit, row) = 1
        """
        contested = f"SELECT id, late, unit, row FROM tied WHERE id NOT IN ({same})"
        target = Path(job.target)
        _copy(connection, winners, target)
        _copy(connection, contested, target.parents[1] / _CONTESTED / target.name)
    report(0)


def read_contested(job: CopiesJob, report: Report = ignore) -> None:
    """Read the raw lines of the contested copies in a dump."""
    with job_connection(job.share, job.scratch) as connection:
        query = f"FROM {read_folder(Path(job.source))} WHERE unit = {job.unit} ORDER BY row"
        found, again = tee(_stream(connection, f"SELECT id, late, row {query}"))
        lines = raw_lines(as_place(job.dump), (row for *_, row in again))
        held: list[tuple[Any, ...]] = []
        size = 0
        with attempt(Path(job.target)) as path, pq.ParquetWriter(path, _LINES) as writer:
            for (id, late, row), (*_, line) in zip(found, lines, strict=False):
                held.append((id, late, job.unit, row, line))
                size += len(line)
                if size > LINES_BYTES or len(held) == LINES_ROWS:
                    writer.write_table(_table(held))
                    held, size = [], 0
            writer.write_table(_table(held))
    report(0)


def choose_contested(job: CopiesJob, report: Report = ignore) -> None:
    """Choose, of the contested copies of some ids, those whose raw line is the greatest."""
    with job_connection(job.share, job.scratch) as connection:
        query = f"""
        SELECT id, late, unit, row FROM {read_folder(Path(job.source))}
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY line DESC, unit, row) = 1
        """
        _copy(connection, query, Path(job.target))
    report(0)


def keep_best(job: CopiesJob, report: Report = ignore) -> None:
    """Write the repeated ids of a unit, the rows of its best copies, and what that changes."""
    with job_connection(job.share, job.scratch) as connection:
        connection.execute(f"""
        CREATE TEMP TABLE mine AS
        SELECT id, c.row AS place, month, late, w.unit = {job.unit} AND w.row = c.row AS won
        FROM {read_folder(Path(job.copies))} c JOIN {read_folder(Path(job.source))} w USING (id)
        WHERE c.unit = {job.unit}
        """)
        if not connection.execute("SELECT 1 FROM mine LIMIT 1").fetchall():
            return  # the unit has no copy
        folder = Path(job.target)
        _copy(connection, "SELECT DISTINCT id FROM mine", folder / REPEATED_IDS)
        reason = f"CASE WHEN late THEN {literal(DELETED_LATER)} ELSE reason END"
        changed = f"REPLACE ({reason} AS reason)" if job.kind == "comments" else ""
        best = f"""
        SELECT * EXCLUDE (start, filename, file_row_number, place, late) {changed}
        FROM {_numbered_rows(connection, job)}
        JOIN (SELECT place, late FROM mine WHERE won) w ON start + file_row_number = w.place
        WHERE id IN (SELECT id FROM mine WHERE won)
        """
        _copy(connection, best, folder / BEST_COPIES)
        write_json(folder / _FACTS, _facts(connection))
    report(0)


def _facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the dropped copies by month, and hashes of the rows that were dropped or changed."""
    conditions = {"here": "true", "lost": "NOT won", "late": "late"}
    hashes = {}
    for name, condition in conditions.items():
        # A sum, since the rows are in no order, and a list of them might not fit in memory.
        query = "SELECT count(*), bit_xor(md5_number_lower(CAST(place AS VARCHAR))) FROM mine"
        hashes[name] = connection.execute(f"{query} WHERE {condition}").fetchall()[0]
    lost = connection.execute("SELECT month, count(*) FROM mine WHERE NOT won GROUP BY month ORDER BY month")
    return {"rows": hashes, "dropped": {str(month): count for month, count in lost.fetchall()}}


def _numbered_rows(connection: duckdb.DuckDBPyConnection, job: CopiesJob) -> str:
    """Return the rows of a unit, with the number of rows before their file."""
    connection.execute("CREATE OR REPLACE TEMP TABLE starts (filename VARCHAR, start BIGINT)")
    connection.executemany("INSERT INTO starts VALUES (?, ?)", [[file.path, file.start] for file in job.files])
    files = literals(Path(file.path) for file in job.files)
    return f"read_parquet({files}, filename=true, file_row_number=true) JOIN starts USING (filename)"


def _stream(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[Any, ...]]:
    cursor = connection.execute(query)
    while some := cursor.fetchmany(LINES_ROWS):
        yield from some


def _table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = [[row[at] for row in rows] for at in range(len(_LINES))]
    return pa.table([pa.array(one, kind) for one, kind in zip(columns, _LINES.types, strict=True)], _LINES)
