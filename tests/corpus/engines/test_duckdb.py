"""Tables divided by DuckDB into parts that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import narwhals as nw
import pytest

from deadpan.corpus.engines.duckdb import DuckDBEngine, open_duckdb, range_number, read_folder
from deadpan.corpus.engines.engine import EngineSettings, parts_of, size_of

LIMIT = "90MB"
TEXT = "repeat('some words ', 20) || range"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    connection = open_duckdb(LIMIT, tmp_path / "spilled")
    yield DuckDBEngine(EngineSettings(connection, LIMIT, tmp_path, ""))
    connection.close()


def table(engine: DuckDBEngine, count: int) -> nw.LazyFrame:  # type: ignore[type-arg]
    query = f"SELECT range * 7919 % 1000 AS moment, 'c' || range AS id, {TEXT} AS text FROM range({count})"
    return nw.from_native(engine.connection.sql(query))


@pytest.mark.slow
def test_ranges_are_in_order_and_sorted_one_by_one_within_a_fixed_limit(tmp_path: Path, engine: DuckDBEngine) -> None:
    for count in (400_000,):  # 98 MB, more than the limit
        folder = tmp_path / str(count)
        engine.split(table(engine, count), folder, ("moment", "id"), engine.job_bytes)
        parts, before, seen = parts_of(folder), (-1, ""), 0
        assert max(map(size_of, parts)) < 3 * engine.job_bytes
        for part in parts:
            engine.connection.execute(
                f"CREATE OR REPLACE TABLE done AS SELECT * FROM {read_folder(part)} ORDER BY moment, id"
            )
            first, last, rows = engine.connection.execute(
                "SELECT min((moment, id)), max((moment, id)), count(*) FROM done"
            ).fetchall()[0]
            assert before < tuple(first)
            before, seen = tuple(last), seen + rows
        assert seen == count
    assert len(parts) > 6


def test_a_value_is_in_one_part_also_in_several_rounds(tmp_path: Path, engine: DuckDBEngine) -> None:
    engine.fan_out = 3
    engine.scatter(table(engine, 5_000), tmp_path / "parts", "moment", 50_000)
    parts = parts_of(tmp_path / "parts")
    assert len(parts) > 9
    found = [
        moment
        for part in parts
        for (moment,) in engine.connection.execute(f"SELECT DISTINCT moment FROM {read_folder(part)}").fetchall()
    ]
    assert sorted(found) == list(range(1_000))


def test_a_small_table_is_one_part(tmp_path: Path, engine: DuckDBEngine) -> None:
    engine.split(table(engine, 10), tmp_path / "parts", ("id",), engine.job_bytes)
    assert [part.name for part in parts_of(tmp_path / "parts")] == ["whole"]


def test_numbers_of_ranges(engine: DuckDBEngine) -> None:
    number = range_number(("a", "b"), [(1, "x"), (1, "y"), (5, "it's")])
    rows = [(0, "z"), (1, "w"), (1, "x"), (1, "y"), (4, ""), (5, "it's"), (9, "")]
    found = [
        engine.connection.execute(f"SELECT {number} FROM (SELECT ? AS a, ? AS b)", list(row)).fetchall()[0][0]
        for row in rows
    ]
    assert found == [0, 0, 1, 2, 2, 3, 3]
