"""Jobs that choose between copies of a comment, on any worker: each has one dump, or some of the ids.

`find` lists the copies in a dump, `compare` chooses where the time of retrieval decides, `look_up` reads the
raw lines of the others, `choose` compares those, and `keep` writes what a dump keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import tee
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import attempt
from deadpan.corpus.engines.duckdb import connect
from deadpan.corpus.engines.engine import Watch, ignore
from deadpan.corpus.ingest.lines import raw_lines
from deadpan.corpus.ingest.places import place_of
from deadpan.corpus.ingest.rules import DELETED_LATER, RANK_GONE, RANK_HAS_TEXT
from deadpan.corpus.ingest.units import BEST, REPEATED
from deadpan.corpus.sql import PARQUET_OPTIONS, literal, literals, read_folder
from deadpan.storage import write_json

FACTS, CONTESTED = "facts.json", "contested"
HELD_BYTES, HELD_ROWS = 16 << 20, 1_000  # of raw lines, before they are written
_LINES = pa.schema(
    [("id", pa.string()), ("late", pa.bool_()), ("unit", pa.int32()), ("row", pa.int64()),
     ("line", pa.binary())]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CopiesJob:
    """Arguments of every job here: what it reads, where it writes, and the number and kind of its unit.

    `starts` are the files of the unit's rows with the number of rows before each; `dump` is its dump.
    """

    target: str
    memory: str
    threads: int
    scratch: str
    source: str = ""
    copies: str = ""
    unit: int = 0
    kind: str = ""
    dump: str = ""
    starts: Sequence[Sequence[Any]] = ()

    def text(self) -> str:
        return json.dumps(asdict(self), default=str)


@contextmanager
def _started(job: str, watch: Watch) -> Iterator[tuple[CopiesJob, duckdb.DuckDBPyConnection]]:
    task = CopiesJob(**json.loads(job))
    Path(task.scratch).mkdir(parents=True, exist_ok=True)
    with closing(connect(task.memory, Path(task.scratch), task.threads)) as connection:
        connection.execute("SET preserve_insertion_order = false")
        yield task, connection
    watch(job, 0)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    with attempt(target) as path:
        connection.execute(f"COPY ({query}) TO {literal(str(path))} ({PARQUET_OPTIONS})")


def find(job: str, watch: Watch = ignore) -> None:
    """List the rows of a unit whose id occurs more than once, without their texts."""
    with _started(job, watch) as (task, connection):
        rows = _numbered_rows(connection, task)
        names = [name for name, *_ in connection.execute(f"DESCRIBE FROM {_files(task)}").fetchall()]
        content = f"md5(CAST(to_json(struct_pack({', '.join(names)})) AS VARCHAR))"
        query = f"""
        SELECT {task.unit} AS unit, start + file_row_number AS row, {content} AS content, id, rank, month
        FROM {rows}
        WHERE id IN (SELECT id FROM {read_folder(Path(task.source))})
        """
        _copy(connection, query, Path(task.target))


def compare(job: str, watch: Watch = ignore) -> None:
    """Choose the best copies of some ids; those that tie and differ go into a folder beside the target's."""
    with _started(job, watch) as (task, connection):
        connection.execute(f"""
        CREATE TEMP TABLE tied AS
        WITH copies AS (
          FROM {read_folder(Path(task.source))}
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
        target = Path(task.target)
        _copy(connection, winners, target)
        _copy(connection, contested, target.parents[1] / CONTESTED / target.name)


def look_up(job: str, watch: Watch = ignore) -> None:
    """Read the raw lines of the contested copies in a dump."""
    with _started(job, watch) as (task, connection):
        query = f"FROM {read_folder(Path(task.source))} WHERE unit = {task.unit} ORDER BY row"
        found, again = tee(_stream(connection, f"SELECT id, late, row {query}"))
        lines = raw_lines(place_of(task.dump), (row for *_, row in again))
        held: list[tuple[Any, ...]] = []
        size = 0
        with attempt(Path(task.target)) as path, pq.ParquetWriter(path, _LINES) as writer:
            for (id, late, row), (*_, line) in zip(found, lines, strict=False):
                held.append((id, late, task.unit, row, line))
                size += len(line)
                if size > HELD_BYTES or len(held) == HELD_ROWS:
                    writer.write_table(_table(held))
                    held, size = [], 0
            writer.write_table(_table(held))


def choose(job: str, watch: Watch = ignore) -> None:
    """Choose, of the contested copies of some ids, those whose raw line is the greatest."""
    with _started(job, watch) as (task, connection):
        query = f"""
        SELECT id, late, unit, row FROM {read_folder(Path(task.source))}
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY line DESC, unit, row) = 1
        """
        _copy(connection, query, Path(task.target))


def keep(job: str, watch: Watch = ignore) -> None:
    """Write the repeated ids of a unit, the rows of its best copies, and what that changes."""
    with _started(job, watch) as (task, connection):
        connection.execute(f"""
        CREATE TEMP TABLE mine AS
        SELECT id, c.row AS place, month, late, w.unit = {task.unit} AND w.row = c.row AS won
        FROM {read_folder(Path(task.copies))} c JOIN {read_folder(Path(task.source))} w USING (id)
        WHERE c.unit = {task.unit}
        """)
        if not connection.execute("SELECT 1 FROM mine LIMIT 1").fetchall():
            return
        folder = Path(task.target)
        _copy(connection, "SELECT DISTINCT id FROM mine", folder / REPEATED)
        reason = f"CASE WHEN late THEN {literal(DELETED_LATER)} ELSE reason END"
        changed = f"REPLACE ({reason} AS reason)" if task.kind == "comments" else ""
        best = f"""
        SELECT * EXCLUDE (start, filename, file_row_number, place, late) {changed}
        FROM {_numbered_rows(connection, task)}
        JOIN (SELECT place, late FROM mine WHERE won) w ON start + file_row_number = w.place
        WHERE id IN (SELECT id FROM mine WHERE won)
        """
        _copy(connection, best, folder / BEST)
        write_json(folder / FACTS, _facts(connection))


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


def _files(task: CopiesJob) -> str:
    return f"read_parquet({literals(Path(path) for path, _ in task.starts)})"


def _numbered_rows(connection: duckdb.DuckDBPyConnection, task: CopiesJob) -> str:
    """Return the rows of a unit, with the number of rows before their file."""
    connection.execute("CREATE OR REPLACE TEMP TABLE starts (filename VARCHAR, start BIGINT)")
    connection.executemany("INSERT INTO starts VALUES (?, ?)", [list(one) for one in task.starts])
    files = literals(Path(path) for path, _ in task.starts)
    return f"read_parquet({files}, filename=true, file_row_number=true) JOIN starts USING (filename)"


def _stream(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[Any, ...]]:
    cursor = connection.execute(query)
    while some := cursor.fetchmany(HELD_ROWS):
        yield from some


def _table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = [[row[at] for row in rows] for at in range(len(_LINES))]
    return pa.table([pa.array(one, kind) for one, kind in zip(columns, _LINES.types, strict=True)], _LINES)
