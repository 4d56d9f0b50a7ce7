"""The engine compared with a plain reference, and with itself in other orders and partitions: the same bytes."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from corpus.adversary import Dumps, adversary
from corpus.making import check, difference, expected, files, run, settings_of
from deadpan.corpus import BuiltCorpus, build_corpus, build_until
from deadpan.corpus.build import Build
from deadpan.corpus.engines.duckdb import readable_error
from deadpan.corpus.settings import BUILD_STEPS
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import ConfigError


@pytest.mark.parametrize(("seed", "honest"), [(0, False), (1, True)])
def test_every_byte_equals_the_reference(tmp_path: Path, seed: int, honest: bool) -> None:
    dumps = adversary(seed, comments=600, honest=honest)
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    assert manifest.counts["sequences"] > 5
    assert manifest.drops["broken_chain"] > 0


def test_dumps_read_in_parts_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadpan.corpus.lines.BLOCK_BYTES", 512)
    monkeypatch.setattr("deadpan.corpus.rows.PART_BYTES", 9_000)
    monkeypatch.setattr("deadpan.corpus.threads.WORDS_AT_ONCE", 5)
    dumps = adversary(2, comments=300)
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    assert len(list((tmp_path / "out" / ".work").glob("comments-*/rows-*.parquet"))) > len(dumps.comments)


def test_a_step_without_its_key_is_repeated(tmp_path: Path) -> None:
    paths = [str(p) for p in synthesize_dumps(tmp_path / "dumps", months=1, comments=2_000, form="gz").files]
    run(tmp_path, paths)
    before = files(tmp_path / "out")
    (step,) = (tmp_path / "out" / ".work").glob("texts-*")
    (step / "key.json").unlink()  # the power failed
    (step / "part.parquet").write_bytes(b"")
    shutil.rmtree(tmp_path / "out" / ".versions")
    run(tmp_path, paths)
    assert difference(before, files(tmp_path / "out")) == ""
    assert (step / "key.json").is_file()


def test_only_an_interrupt_is_taken_for_ctrl_c(tmp_path: Path) -> None:
    assert isinstance(readable_error(RuntimeError("Query interrupted"), tmp_path), KeyboardInterrupt)
    assert isinstance(readable_error(duckdb.InterruptException("INTERRUPT Error"), tmp_path), KeyboardInterrupt)
    importing = duckdb.InvalidInputException(
        "Invalid Input Error: Required module 'pandas' failed to import, due to the following Python exception:\n"
        "KeyboardInterrupt: "
    )
    assert isinstance(readable_error(importing, tmp_path), KeyboardInterrupt)
    other = duckdb.IOException("IO Error: cannot open /data/interrupted/rows.parquet")
    assert readable_error(other, tmp_path) is other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_every_byte_equals_the_reference_again(tmp_path: Path, seed: int) -> None:
    dumps = adversary(seed, comments=100 * (1 + seed % 4), files=1 + seed % 4, honest=seed % 2 == 0)
    check(tmp_path / "out", run(tmp_path, dumps.write(tmp_path / "dumps")), expected(dumps))


def test_months_in_scope_and_forgotten_authors(tmp_path: Path) -> None:
    dumps = adversary(5, comments=500, honest=True)
    forget = tmp_path / "forget.txt"
    forget.write_text("u/ANN\n\nbob\n", encoding="utf-8")
    scope = {"first_month": "2010-02", "last_month": "2010-03"}
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"), scope=scope, forget=forget)
    plain = expected(dumps, frozenset(["ann", "bob"]), **scope)
    check(tmp_path / "out", manifest, plain)
    written = b"".join(
        data for name, data in files(tmp_path / "out").items() if name.endswith((".csv", ".tsv", ".json"))
    )
    assert b"ann" not in written.replace(b"manifest", b"")
    assert b"Bob" not in written
    for path in (tmp_path / "out" / ".work").rglob("*.parquet"):
        assert b"Bob" not in path.read_bytes()


def test_a_new_request_to_be_forgotten_reads_only_the_dumps_it_is_in(tmp_path: Path) -> None:
    line = '{{"id":"{}","body":"well /s","author":"{}","created_utc":{},"parent_id":"t3_p","link_id":"t3_p"}}\n'
    withdrawn = line.format("c", "bob", 1262304000).replace("}\n", ',"_meta":{"was_deleted_later":true}}\n')
    dumps = Dumps({
        "RC_2010-01": (line.format("a", "ann", 1262304000) + withdrawn).encode(),
        "RC_2010-02": line.format("b", "bob", 1264982400).encode(),
    })  # fmt: skip
    paths = dumps.write(tmp_path / "dumps")
    run(tmp_path, paths)
    before = {p.parent.stat().st_ino for p in (tmp_path / "out" / ".work").glob("comments-*/unit.json")}
    forget = tmp_path / "forget.txt"
    forget.write_text("bob\n", encoding="utf-8")
    assert run(tmp_path, paths, forget=forget).drops["forgotten"] == 1
    after = {p.parent.stat().st_ino for p in (tmp_path / "out" / ".work").glob("comments-*/unit.json")}
    assert len(before & after) == 1
    run(tmp_path, paths, out="fresh", forget=forget)
    assert difference(files(tmp_path / "out"), files(tmp_path / "fresh")) == ""


@pytest.mark.slow
def test_order_compression_and_workers_do_not_matter(tmp_path: Path) -> None:
    dumps = adversary(7, comments=200, honest=True)
    run(tmp_path, dumps.write(tmp_path / "dumps"))
    again = Dumps(dict(reversed(dumps.comments.items())), dumps.posts).write(tmp_path / "again")
    run(tmp_path, again[::-1], out="other", workers=3, memory="300MB")
    assert difference(files(tmp_path / "out"), files(tmp_path / "other")) == ""


@pytest.mark.slow
def test_month_by_month_gives_the_files_of_a_build_from_scratch(tmp_path: Path) -> None:
    paths = [str(p) for p in synthesize_dumps(tmp_path / "dumps", months=3, comments=1_500, form="gz").files]
    run(tmp_path, paths)
    run(tmp_path, paths[:4], out="grown")
    first = json.loads(next((tmp_path / "grown" / ".work").glob("threads-*/info.json")).read_text())
    assert first == {"joined": False, "rounds": 1, "reused": []}
    kept = {p.stat().st_ino for p in (tmp_path / "grown" / ".work").glob("*-*")}
    run(tmp_path, paths, out="grown")
    assert difference(files(tmp_path / "out"), files(tmp_path / "grown")) == ""
    info = json.loads(next((tmp_path / "grown" / ".work").glob("threads-*/info.json")).read_text())
    assert len(info["reused"]) == 2  # the threads of two months were taken over, but for those that went on
    now = {p.stat().st_ino for p in (tmp_path / "grown" / ".work").glob("*-*")}
    assert len(now & kept) >= 8  # dumps, authors and candidates of the first months
    # An earlier month that comes late changes who was aware when: everything after it is looked at again.
    run(tmp_path, paths[2:], out="late")
    run(tmp_path, paths, out="late")
    assert difference(files(tmp_path / "out"), files(tmp_path / "late")) == ""


def test_a_second_run_does_nothing_and_other_settings_leave_nothing_behind(tmp_path: Path) -> None:
    dumps = adversary(9, comments=150, honest=True)
    paths = dumps.write(tmp_path / "dumps")
    run(tmp_path, paths, packed=True)
    assert (tmp_path / "out" / "raw" / "sarc.csv.bz2").is_file()
    run(tmp_path, paths)
    plain = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*") if p.is_file()}
    run(tmp_path, paths)
    assert plain == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert not list((tmp_path / "out").rglob("*.bz2"))
    damaged = tmp_path / "out" / "raw" / "sarc.csv"
    good = damaged.read_bytes()
    damaged.write_bytes(b"x")
    run(tmp_path, paths)
    assert damaged.read_bytes() == good


def test_a_chain_of_ten_thousand_replies(tmp_path: Path) -> None:
    line = '{{"id":"c{}","body":"{}","author":"ann","created_utc":{},"parent_id":"{}","link_id":"t3_p"}}\n'
    chain = [line.format(n, "oh yes sure", 1262304000 + n, "t3_p" if n == 0 else f"t1_c{n - 1}") for n in range(10_000)]
    chain.append(line.format("end", "so good /s", 1262400000, "t1_c9999"))
    chain.append(line.format("mid", "is it /s", 1262400000, "t1_c4000"))
    chain.append(line.format("sib", "that is it", 1262400000, "t1_c4000"))
    dumps = Dumps({"RC_2010-01": "".join(chain[::-1]).encode()})
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    path = ["p", *(f"c{n}" for n in range(10_000))]
    assert (tmp_path / "out" / "raw" / "sequences.csv").read_text() == (
        f"{' '.join(path[:4002])}|c4001 cmid csib|0 1 0\n{' '.join(path)}|cend|1\n"
    )
    assert manifest.counts["comments"] == 10_003


@pytest.mark.slow
def test_a_dump_of_duplicates_only_adds_nothing(tmp_path: Path) -> None:
    dumps = adversary(4, comments=200, honest=True)
    run(tmp_path, dumps.write(tmp_path / "dumps"))
    plain = files(tmp_path / "out")
    (tmp_path / "again").mkdir()
    copies = []
    for name, text in dumps.comments.items():
        copies.append(tmp_path / "again" / f"{name}.gz")
        copies[-1].write_bytes(gzip.compress(text))
    manifest = run(tmp_path, [*dumps.write(tmp_path / "dumps"), *map(str, copies)], out="twice")
    twice = files(tmp_path / "twice")
    for name in ("raw/sarc.csv", "raw/sequences.csv", "raw/comments.json", "main/train-balanced.csv"):
        assert twice[name] == plain[name], name
    assert manifest.drops["duplicate"] >= manifest.counts["comments"]


def test_build_corpus_takes_single_settings_also_in_a_running_loop(tmp_path: Path) -> None:
    dumps = synthesize_dumps(tmp_path / "dumps", months=2, comments=3_000, form="gz")
    settings, steps = settings_of(tmp_path), []

    async def cell() -> BuiltCorpus:
        return build_corpus(
            dumps.files, str(tmp_path / "out"), settings, last_month="2010-01", memory="500MB",
            progress=lambda step, done, total: steps.append(step),
        )  # fmt: skip

    corpus = asyncio.run(cell())
    assert corpus.manifest.config["scope"]["last_month"] == "2010-01"
    assert "outside_months" in corpus.manifest.drops
    assert list(dict.fromkeys(step for step in steps if ":" not in step)) == list(BUILD_STEPS)
    with pytest.raises(ConfigError, match="did you mean 'last_month'"):
        build_corpus(tmp_path / "dumps", tmp_path / "out", settings, last_moth="2010-01")


def test_every_step_is_a_method_of_a_build() -> None:
    assert all(callable(getattr(Build, step)) for step in BUILD_STEPS)
    with pytest.raises(ConfigError, match="unknown step 'thread': did you mean 'threads'"):
        build_until("thread", "dumps", "out")


def test_an_interrupt_within_rmtree_is_still_an_interrupt(tmp_path, monkeypatch):
    """shutil.rmtree turns Ctrl-C into an OSError when it comes while a folder is closed."""
    dumps = synthesize_dumps(tmp_path / "dumps", months=1, comments=50, form="gz")

    def closed_twice(self: Build, moved: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise OSError(9, "Bad file descriptor")  # noqa: B904

    monkeypatch.setattr(Build, "ingest", closed_twice)
    with pytest.raises(KeyboardInterrupt):
        build_corpus([str(path) for path in dumps.files], tmp_path / "out")
