"""The engine against the plain reference, and against itself: other orders, other pieces, the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from corpus.adversary import Dumps, adversary
from corpus.making import check, difference, expected, files, run
from deadpan.corpus.engine_duckdb import trouble
from deadpan.corpus.ingest import IngestOptions
from deadpan.corpus.synthesize import synthesize
from deadpan.errors import DataError


@pytest.mark.parametrize(("seed", "honest"), [(0, False), (1, True)])
def test_every_byte_equals_the_reference(tmp_path: Path, seed: int, honest: bool) -> None:
    dumps = adversary(seed, comments=600, honest=honest)
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    assert manifest.counts["sequences"] > 5
    assert manifest.drops["broken_chain"] > 0


@pytest.mark.parametrize(("block", "part"), [(512, 20_000), (4_096, 9_000)])
def test_dumps_read_in_parts_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, part: int
) -> None:
    monkeypatch.setattr("deadpan.corpus.lines.BLOCK", block)
    monkeypatch.setattr("deadpan.corpus.ingest.PART", part)
    monkeypatch.setattr("deadpan.corpus.batches.WORDS_AT_ONCE", 5)
    dumps = adversary(2, comments=600)
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    assert len(list((tmp_path / "out" / ".work").glob("comments-*/rows-*.parquet"))) > len(dumps.comments)


@pytest.mark.parametrize("at_once", [0, 1_000_000])
def test_ids_that_share_a_hash_are_not_taken_for_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("deadpan.corpus.duplicates.HASH", "hash(id) % 500")
    monkeypatch.setattr("deadpan.corpus.duplicates.SORTED_AT_ONCE", at_once)
    dumps = adversary(3, comments=600)
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    assert manifest.drops["duplicate"] > 0


def test_a_system_without_files_in_memory_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(p) for p in synthesize(tmp_path / "dumps", months=1, comments=2_000, form="gz")]
    run(tmp_path, paths, out="here")
    monkeypatch.delattr("os.memfd_create", raising=False)
    run(tmp_path, paths, out="elsewhere")
    assert difference(files(tmp_path / "here"), files(tmp_path / "elsewhere")) == ""
    assert not [p for p in (tmp_path / "elsewhere" / ".work").rglob("*") if p.name.startswith("tmp")]


def test_a_step_is_done_when_it_is_on_the_disk(tmp_path: Path) -> None:
    paths = [str(p) for p in synthesize(tmp_path / "dumps", months=1, comments=2_000, form="gz")]
    run(tmp_path, paths)
    before = files(tmp_path / "out")
    (step,) = (tmp_path / "out" / ".work").glob("texts-*")
    (step / "key.json").unlink()  # the power failed
    (step / "part.parquet").write_bytes(b"")
    (tmp_path / "out" / "manifest.json").unlink()
    run(tmp_path, paths)
    assert difference(before, files(tmp_path / "out")) == ""
    assert (step / "key.json").is_file()


def test_only_an_interrupt_is_taken_for_ctrl_c(tmp_path: Path) -> None:
    assert isinstance(trouble(RuntimeError("Query interrupted"), tmp_path), KeyboardInterrupt)
    assert isinstance(trouble(duckdb.InterruptException("INTERRUPT Error"), tmp_path), KeyboardInterrupt)
    other = duckdb.IOException("IO Error: cannot open /data/interrupted/rows.parquet")
    assert trouble(other, tmp_path) is other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_every_byte_equals_the_reference_again(tmp_path: Path, seed: int) -> None:
    dumps = adversary(seed, comments=200 * (1 + seed % 4), files=1 + seed % 4, honest=seed % 2 == 0)
    check(tmp_path / "out", run(tmp_path, dumps.write(tmp_path / "dumps")), expected(dumps))


def test_months_asked_for_and_authors_to_forget(tmp_path: Path) -> None:
    dumps = adversary(5, comments=500, honest=True)
    forget = tmp_path / "forget.txt"
    forget.write_text("u/ANN\n\nbob\n", encoding="utf-8")
    scope = {"first_month": "2010-02", "last_month": "2010-03"}
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"), scope=scope, forget=forget)
    plain = expected(dumps, first="2010-02", last="2010-03", forget=frozenset(["ann", "bob"]))
    check(tmp_path / "out", manifest, plain)
    written = b"".join(
        data for name, data in files(tmp_path / "out").items() if name.endswith((".csv", ".tsv", ".json"))
    )
    assert b"ann" not in written.replace(b"manifest", b"")
    assert b"Bob" not in written
    for path in (tmp_path / "out" / ".work").rglob("*.parquet"):
        assert b"Bob" not in path.read_bytes()


def test_a_new_request_to_be_forgotten_reads_only_the_dumps_it_is_in(tmp_path: Path) -> None:
    line = (
        '{{"id":"{}","body":"well /s","author":"{}","created_utc":{},"parent_id":"t3_p","link_id":"t3_p"}}\n'
    )
    dumps = Dumps({
        "RC_2010-01": line.format("a", "ann", 1262304000).encode(),
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


def test_order_packing_and_workers_do_not_matter(tmp_path: Path) -> None:
    dumps = adversary(7, comments=200, honest=True)
    run(tmp_path, dumps.write(tmp_path / "dumps"))
    again = Dumps(dict(reversed(dumps.comments.items())), dumps.posts).write(tmp_path / "again")
    run(tmp_path, again[::-1], out="other", ingest=IngestOptions(workers=3), memory="300MB")
    assert difference(files(tmp_path / "out"), files(tmp_path / "other")) == ""


def test_month_by_month_gives_what_a_build_from_scratch_gives(tmp_path: Path) -> None:
    paths = [str(p) for p in synthesize(tmp_path / "dumps", months=3, comments=6_000, form="gz")]
    run(tmp_path, paths)
    run(tmp_path, paths[:4], out="grown")
    first = json.loads(next((tmp_path / "grown" / ".work").glob("threads-*/info.json")).read_text())
    assert first == {"joined": False, "reused": []}
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
    chain = [
        line.format(n, "oh yes sure", 1262304000 + n, "t3_p" if n == 0 else f"t1_c{n - 1}")
        for n in range(10_000)
    ]
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


def test_two_runs_at_once_are_kept_apart(tmp_path: Path) -> None:
    from deadpan.corpus.workshop import Workshop

    dumps = adversary(1, comments=30)
    with Workshop(tmp_path / "out").alone(), pytest.raises(DataError, match="another run"):
        run(tmp_path, dumps.write(tmp_path / "dumps"))
