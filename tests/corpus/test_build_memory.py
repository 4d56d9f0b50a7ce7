"""Memory: the same limit is enough for eight times as many comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.making import run
from deadpan.corpus.engines.duckdb import DuckDBEngine
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import ConfigError

LIMIT = "90MB"


def write(path: Path, count: int) -> None:
    """Write comments whose authors all know the marker, so that nearly all are kept and sorted."""
    words = "some more words here " * 4
    with path.open("w") as file:
        for n in range(count):
            parent = f"t3_p{n // 20}" if n % 3 == 0 else f"t1_c{n - 1}"
            mark = " /s" if n % 51 == 0 else ""
            file.write(
                f'{{"id":"c{n}","body":"number {n} {words}{mark}","author":"a{n % 200}","subreddit":"s{n % 50}",'
                f'"created_utc":{1262304000 + n * 5 % 2_600_000},"parent_id":"{parent}","link_id":"t3_p{n // 20}"}}\n'
            )


@pytest.mark.slow
def test_a_fixed_limit_while_comments_grow_eightfold(tmp_path: Path) -> None:
    for count in (10_000, 80_000):
        path = tmp_path / "RC_2010-01"
        write(path, count)
        manifest = run(tmp_path, [str(path)], out=f"out-{count}", memory=LIMIT)
        assert manifest.counts["comments"] > 0.9 * count


@pytest.mark.slow
def test_what_the_driver_collects_does_not_grow_with_the_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    collect = DuckDBEngine.collect

    def counted(engine: DuckDBEngine, frame: object) -> object:
        table = collect(engine, frame)  # type: ignore[arg-type]
        rows.append(len(table))
        return table

    monkeypatch.setattr(DuckDBEngine, "collect", counted)
    largest = []
    for count in (250, 2_000):
        dumps = synthesize_dumps(tmp_path / f"dumps-{count}", months=1, comments=count, form="plain")
        # Every comment twice, so that copies are compared, down to their raw lines.
        twice = tmp_path / f"twice-{count}_comments"
        twice.write_bytes(dumps.files[0].read_bytes().replace(b'"score":', b'"gilded":1,"score":1'))
        manifest = run(tmp_path, [*map(str, dumps.files), str(twice)], out=f"out-{count}")
        assert manifest.drops["duplicate"] > 0.9 * count
        largest.append(max(rows))
        rows.clear()
    assert largest[1] <= 3 * largest[0]


def test_too_little_memory_is_refused_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "RC_2010-01", 10)
    with pytest.raises(ConfigError, match="--memory 80MB is too little for these dumps: give 90MB or more"):
        run(tmp_path, [str(tmp_path / "RC_2010-01")], memory="80MB")
    monkeypatch.setattr("deadpan.corpus.build.SMALL_DUMPS", 100)
    with pytest.raises(ConfigError, match="give 200MB or more"):
        run(tmp_path, [str(tmp_path / "RC_2010-01")], memory="160MB")
    assert not (tmp_path / "out" / ".work").exists()
