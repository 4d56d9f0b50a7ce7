"""Copies of one comment: the best stays, the others are dropped before anything else looks at them.

Best is the greatest (not deleted, retrieved_on, bytes of the raw line). The last is only looked at where
it matters: copies that tie and still differ in a column, whose lines are then read again from their dumps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np

from deadpan.corpus.dumps import Dump
from deadpan.corpus.ingest import BEST, PARQUET, REPEATED, Unit
from deadpan.corpus.lines import raw_lines
from deadpan.corpus.rules import literal, literals
from deadpan.corpus.workshop import Workshop

HASH = "hash(id)"
SORTED_AT_ONCE = 16_000_000  # hashes of 8 bytes


@dataclass(frozen=True, slots=True)
class Copies:
    """What is left, and how many copies were dropped by month."""

    units: list[Unit]
    dropped: Counter[int]


def drop_duplicates(
    workshop: Workshop, connection: duckdb.DuckDBPyConnection, units: Sequence[Unit], dumps: Sequence[Dump]
) -> Copies:
    """Units of one kind in which every id occurs once. Units without a losing copy are left as they are."""
    if not units or not _find(connection, units):
        return Copies(list(units), Counter())
    _settle(connection, dumps)
    counts = connection.execute("SELECT month, count(*) FROM losers GROUP BY month").fetchall()
    clean = [_without_losers(workshop, connection, number, unit) for number, unit in enumerate(units)]
    return Copies(clean, Counter(dict(counts)))


def _find(connection: duckdb.DuckDBPyConnection, units: Sequence[Unit]) -> bool:
    """Table `copies`: every row whose id occurs more than once. False if there is none.

    One that only shares a hash with another comes along, and wins, as it has no rival.
    """
    files = literals(file for unit in units for file in unit.rows)
    _hash(connection, f"read_parquet({files})", sum(unit.count for unit in units))
    if not connection.execute("SELECT 1 FROM hashes LIMIT 1").fetchall():
        return False
    described = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({files})").fetchall()
    columns = ", ".join(name for name, *_ in described)
    connection.execute("CREATE OR REPLACE TEMP TABLE starts (filename VARCHAR, unit INTEGER, start BIGINT)")
    connection.executemany(
        "INSERT INTO starts VALUES (?, ?, ?)",
        [
            [str(file), number, start]
            for number, unit in enumerate(units)
            for file, start in unit.starts.items()
        ],
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE copies AS SELECT unit, start + file_row_number AS row,"
        f" md5(CAST(to_json(struct_pack({columns})) AS VARCHAR)) AS content, {columns}"
        f" FROM read_parquet({files}, filename=true, file_row_number=true) JOIN starts USING (filename)"
        f" WHERE id IS NOT NULL AND {HASH} IN (FROM hashes)"
    )
    return True


def _hash(connection: duckdb.DuckDBPyConnection, rows: str, count: int) -> None:
    """Table `hashes`: of ids, those that occur more than once. Sorting numbers is three times as fast as
    grouping, as long as they fit into memory."""
    select = f"SELECT {HASH} AS hash FROM {rows} WHERE id IS NOT NULL"
    repeated = f"{select} GROUP BY hash HAVING count(*) > 1"
    if count <= SORTED_AT_ONCE:
        found = connection.sql(select).fetchnumpy()["hash"]
        found.sort()
        connection.register("sorted", {"hash": np.unique(found[1:][found[1:] == found[:-1]])})
        repeated = "FROM sorted"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE hashes AS {repeated}")
    connection.unregister("sorted")


def _settle(connection: duckdb.DuckDBPyConnection, dumps: Sequence[Dump]) -> None:
    """Table `losers`: every copy but the best of each id."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE tied AS SELECT * FROM copies"
        " JOIN (SELECT id, max(rank) AS best FROM copies GROUP BY id) USING (id) WHERE rank = best"
    )
    contested = connection.execute(
        "SELECT id, unit, row FROM tied WHERE id IN"
        " (SELECT id FROM tied GROUP BY id HAVING count(DISTINCT content) > 1)"
    ).fetchall()
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE winners AS"
        " SELECT id, arg_min(unit, (unit, row)) AS unit, arg_min(row, (unit, row)) AS row"
        " FROM tied GROUP BY id HAVING count(DISTINCT content) = 1"
    )
    winners = _by_raw_line(contested, dumps)
    if winners:
        connection.executemany("INSERT INTO winners VALUES (?, ?, ?)", winners)
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE losers AS SELECT * FROM copies ANTI JOIN winners USING (unit, row)"
    )


def _by_raw_line(
    contested: Sequence[tuple[str, int, int]], dumps: Sequence[Dump]
) -> list[tuple[str, int, int]]:
    """(id, unit, row) of the copies whose line is the greatest."""
    rows: dict[int, list[int]] = defaultdict(list)
    for _, unit, row in contested:
        rows[unit].append(row)
    lines = {unit: raw_lines(dumps[unit].path, wanted) for unit, wanted in rows.items()}
    best: dict[str, tuple[bytes, int, int]] = {}
    for id, unit, row in contested:
        copy = (lines[unit][row][1], -unit, -row)
        best[id] = max(copy, best.get(id, copy))
    return [(id, -unit, -row) for id, (_, unit, row) in sorted(best.items())]


def _without_losers(
    workshop: Workshop, connection: duckdb.DuckDBPyConnection, number: int, unit: Unit
) -> Unit:
    """The unit, which now says which ids to leave out of its rows, and the rows to take instead.

    Writing all its other rows anew would take longer than everything that follows.
    """
    here = f"FROM copies WHERE unit = {number}"
    if not connection.execute(f"SELECT 1 {here} LIMIT 1").fetchall():
        return unit
    lost = f"FROM losers WHERE unit = {number}"
    digests = connection.execute(
        f"SELECT md5(string_agg(CAST(row AS VARCHAR), ' ' ORDER BY row)) {lost} UNION ALL"
        f" SELECT md5(string_agg(CAST(row AS VARCHAR), ' ' ORDER BY row)) {here}"
    ).fetchall()

    def make(folder: Path) -> None:
        connection.execute(
            f"COPY (SELECT DISTINCT id {here}) TO {literal(str(folder / REPEATED))} ({PARQUET})"
        )
        connection.execute(
            f"COPY (SELECT * EXCLUDE (unit, row, content) {here} AND row IN"
            f" (SELECT row FROM winners WHERE unit = {number}))"
            f" TO {literal(str(folder / BEST))} ({PARQUET})"
        )

    folder = workshop.step(f"copies_{unit.kind}", {"unit": unit.key, "rows": digests}, make)
    gone = dict(connection.execute(f"SELECT month, count(*) {lost} GROUP BY month").fetchall())
    months = Counter(unit.months)
    months.subtract(gone)
    return replace(
        unit,
        # Where it only holds winners, nothing of what follows changes.
        key=folder.name if gone else unit.key,
        copies=folder,
        months={month: count for month, count in months.items() if count},
    )
