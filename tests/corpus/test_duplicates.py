"""Copies of a comment: the best one stays, whichever jobs compare them, and the choice is made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.adversary import adversary
from corpus.dumping import comment
from corpus.making import check, difference, expected, files, recount, run
from deadpan.corpus import duplicates
from deadpan.corpus.engines.duckdb import DuckDBEngine


def rows(out: Path) -> dict[str, list[str]]:
    listed = (out / "raw" / "sarc.csv").read_text().splitlines()[1:]
    return {line.split(",")[10]: line.split(",") for line in listed}


def test_many_small_jobs_choose_the_same_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = adversary(41, comments=150)
    paths = dumps.write(tmp_path / "dumps")
    jobs: list[str] = []
    run_jobs = DuckDBEngine.run_jobs

    def counted(engine: DuckDBEngine, work: object, some: list[str], *rest: object, **more: object) -> None:
        jobs.extend(getattr(work, "__name__", "") for _ in some)
        run_jobs(engine, work, some, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(DuckDBEngine, "run_jobs", counted)
    monkeypatch.setattr("deadpan.corpus.engines.duckdb.SMALLEST_JOB", 3_000)
    monkeypatch.setattr("deadpan.corpus.engines.duckdb.JOBS_PER_MEMORY", 1_000_000)
    monkeypatch.setattr(duplicates, "LINES_ROWS", 2)
    check(tmp_path / "out", run(tmp_path, paths), expected(dumps))
    assert jobs.count("compare_copies") > 1
    assert jobs.count("choose_contested") > 1
    assert jobs.count("read_contested") >= len(dumps.comments)


def test_the_best_copy_wins_across_dumps(tmp_path: Path) -> None:
    withdrawn = {"was_deleted_later": True}
    first = [
        comment("m", body="know it /s"),
        comment("a", body="the first", retrieved_on=5), comment("b", body="alike"),
        comment("c", body="[deleted]", retrieved_on=3), comment("d", body="small line"),
        comment("f", body="a secret", _meta=withdrawn), comment("g", body="before", _meta=withdrawn),
        comment("h", body="[deleted]", author="[deleted]", _meta=withdrawn),
    ]  # fmt: skip
    second = [
        comment("a", body="the second", retrieved_on=7), comment("b", body="alike"),
        comment("c", body="with a text", retrieved_on=3), comment("d", body="zz greater line"),
        comment("e", body="only here"),
        comment("f", body="zz a greater secret"), comment("g", body="approved again", retrieved_on=9),
        comment("h", body="zz another secret"),
    ]  # fmt: skip
    (tmp_path / "RC_2010-01").write_bytes(b"".join(first))
    (tmp_path / "more_comments").write_bytes(b"".join(second))
    paths = [str(tmp_path / "RC_2010-01"), str(tmp_path / "more_comments")]
    manifest = run(tmp_path, paths)
    said = {id: row[1] for id, row in rows(tmp_path / "out").items()}
    assert said == {
        "m": "know it", "a": "the second", "b": "alike", "c": "with a text", "d": "zz greater line",
        "e": "only here", "g": "approved again",
    }  # fmt: skip
    assert manifest.drops["duplicate"] == 7
    assert manifest.drops["deleted_later"] == 2  # f and h: at the same time, the copy that knows more
    recount(tmp_path / "out", paths, manifest)


def test_a_resumed_build_does_not_compare_copies_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = adversary(42, comments=100)
    paths = dumps.write(tmp_path / "dumps")
    run(tmp_path, paths)
    before = files(tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / ".versions")

    def again(job: object, report: object = None) -> None:
        raise AssertionError("copies were compared again")

    for name in ("list_copies", "compare_copies", "read_contested", "choose_contested", "keep_best"):
        monkeypatch.setattr(duplicates, name, again)
    run(tmp_path, paths)
    assert difference(before, files(tmp_path / "out")) == ""
