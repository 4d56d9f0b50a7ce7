"""Authors who know the marker, the candidates of each dump, and which of them a later run may reuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.duckdb import DuckDBEngine, open_duckdb
from deadpan.corpus.engines.engine import EngineSettings
from deadpan.corpus.label import CANDIDATE_COLUMNS, author_parts, candidate_parts
from deadpan.corpus.rows import Unit
from deadpan.corpus.settings import Scope

KINDS = {
    **dict.fromkeys(CANDIDATE_COLUMNS, pa.string()),
    **dict.fromkeys(("score", "ups", "downs", "created_utc", "month"), pa.int64()),
    **dict.fromkeys(("marked", "on_post"), pa.bool_()),
    **dict.fromkeys(("thread", "reason"), pa.string()),
}
del KINDS["top"]  # added when the rows are read
SCHEMA = pa.schema(KINDS.items())


class Bench:
    """Dumps after ingest, made of a few rows, and the two steps run over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpoints = Checkpoints(folder / "out")
        scratch = self.checkpoints.scratch
        self.engine = DuckDBEngine(
            EngineSettings(open_duckdb("500MB", scratch, 1), "500MB", scratch, master="local[1]")
        )
        self.seen: list[tuple[str, int, int]] = []

    def unit(self, name: str, *rows: tuple[str, str, int, str]) -> Unit:
        """A dump of rows (id, author, month, `marked` or a reason why it cannot be in a corpus)."""
        table = [
            {
                "id": one, "author": author, "month": month, "marked": note == "marked", "on_post": True,
                "thread": "p", "subreddit": "Pics", "reason": "" if note == "marked" else note,
            }
            for one, author, month, note in rows
        ]  # fmt: skip
        (self.folder / name).mkdir()
        pq.write_table(pa.Table.from_pylist(table, SCHEMA), self.folder / name / "rows-0.parquet")
        months = {month: 1 for _, _, month, _ in rows}
        return Unit(self.folder / name, name, "comments", name, "", months, 0, (), {}, "", (len(rows),))

    def candidates(self, *units: Unit, scope: Scope | None = None) -> list[Path]:
        """The folders of the candidates."""
        authors = author_parts(self.checkpoints, self.engine, units, self.note)
        return candidate_parts(self.checkpoints, self.engine, units, authors, scope or Scope(), self.note)

    def note(self, step: str, done: int, total: int) -> None:
        self.seen.append((step, done, total))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.connection.close()


def ids(folder: Path) -> list[str]:
    return sorted(pq.read_table(folder / "part.parquet")["id"].to_pylist())


def test_an_author_is_aware_from_the_month_of_their_first_marked_comment(bench: Bench) -> None:
    dump = bench.unit(
        "a",
        ("early", "ann", 201001, ""),
        ("same", "ann", 201002, ""),
        ("first", "ann", 201002, "marked"),
        ("later", "ann", 201003, ""),
        ("again", "ann", 201004, "marked"),
        ("link", "ann", 201004, "url"),
        ("never", "bob", 201004, ""),
        ("gone", "", 201004, "marked"),
    )
    [found] = bench.candidates(dump)
    assert ids(found) == ["again", "first", "later", "same"]
    [found] = bench.candidates(dump, scope=Scope(aware_authors=False))
    assert ids(found) == ["again", "early", "first", "gone", "later", "never", "same"]
    [found] = bench.candidates(dump, scope=Scope(first_month="2010-03", last_month="2010-03"))
    assert ids(found) == ["later"]
    [found] = bench.candidates(dump, scope=Scope(subreddits=("pICS",)))
    assert len(ids(found)) == 4
    [found] = bench.candidates(dump, scope=Scope(subreddits=("funny",)))
    assert ids(found) == []


def test_a_dump_of_the_same_or_an_earlier_month_counts_and_a_later_one_is_no_reason_to_repeat(bench: Bench) -> None:
    march = bench.unit("march", ("a", "ann", 201003, ""), ("b", "bob", 201003, ""))
    [alone] = bench.candidates(march)
    assert ids(alone) == []
    april = bench.unit("april", ("c", "ann", 201004, "marked"))
    assert bench.candidates(march, april)[0] == alone
    second = bench.unit("march-again", ("d", "ann", 201003, "marked"))
    assert ids(bench.candidates(march, second)[0]) == ["a"]
    february = bench.unit("february", ("e", "bob", 201002, "marked"))
    assert ids(bench.candidates(march, february)[0]) == ["b"]


def test_months_outside_of_a_dump_do_not_repeat_its_step_and_those_inside_do(bench: Bench) -> None:
    dump = bench.unit("a", ("x", "ann", 201003, "marked"))
    whole = bench.candidates(dump)
    for scope in (Scope(first_month="2010-03"), Scope(last_month="2010-03"), Scope("2009-01", "2011-12")):
        assert bench.candidates(dump, scope=scope) == whole
    assert ids(whole[0]) == ["x"]
    before = bench.candidates(dump, scope=Scope(last_month="2010-02"))
    assert bench.candidates(dump, scope=Scope(last_month="2010-01")) == before
    assert ids(before[0]) == []
    after = bench.candidates(dump, scope=Scope(first_month="2010-04"))
    assert bench.candidates(dump, scope=Scope(first_month="2010-05")) == after
    assert ids(after[0]) == []


def test_progress_counts_candidates_twice_and_leaves_one_for_what_follows(bench: Bench) -> None:
    bench.candidates(bench.unit("a", ("x", "ann", 201003, "marked")), bench.unit("b", ("y", "bob", 201004, "")))
    assert bench.seen == [("authors", 1, 7), ("authors", 2, 7), ("candidates", 4, 7), ("candidates", 6, 7)]
