"""Dumps read into units: damage, unreadable lines, months, and a full disk."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path

import pytest

from corpus.dumping import LINES, comment
from corpus.making import settings_of
from deadpan.corpus.build import Build
from deadpan.corpus.settings import BuildOptions
from deadpan.errors import ConfigError, DataError, MissingExtra


def test_a_line_longer_than_any_comment_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    long = comment("b", body="x" * 20_000_000)
    path.write_bytes(comment("a", body="y" * 2_000_000) + b"\n" + long + comment("c", body="sure /s") + b"bad\n")
    work = build(tmp_path)
    manifest = work.run([str(path)])
    assert manifest is not None
    assert manifest.counts["lines"] == 4
    assert manifest.drops["unreadable"] == 2
    assert (tmp_path / "out" / "unreadable.csv").read_text() == "file,line\nRC_2010-01,3\nRC_2010-01,5\n"
    assert any("2 unreadable lines, among them RC_2010-01:3, RC_2010-01:5" in note for note in work.notes)


def test_a_body_that_is_not_a_string_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "RC, 2010-01_comments"
    bodies = ["5 /s", 5, 5.5, True, ["a"], {"a": 1}, None, "5"]
    path.write_bytes(b"".join(comment(f"c{n}", body=body) for n, body in enumerate(bodies)))
    manifest = build(tmp_path).run([str(path)])
    assert manifest is not None
    assert manifest.drops["unreadable"] == 6
    assert manifest.counts["comments"] == 2
    with (tmp_path / "out" / "unreadable.csv").open(newline="") as file:  # the name has a comma
        assert list(csv.reader(file))[1:] == [[path.name, str(line)] for line in range(2, 8)]


METAS: list[tuple[dict[str, object], str]] = [
    ({"was_deleted_later": True, "retrieved_2nd_on": 1706875209}, "deleted_later"),
    ({"removal_type": "deleted", "was_deleted_later": True}, "deleted_later"),
    ({"removal_type": "moderator"}, "removed_later"),
    ({"is_edited": True, "was_deleted_later": False}, ""),
    ({"note": "no_2nd_retrieval"}, ""),
]


def test_comments_that_were_gone_at_the_second_retrieval(tmp_path: Path) -> None:
    path = tmp_path / "RC_2024-02"
    moment = 1706745600.0
    lines = [comment(name, body="yes /s", author=name, created_utc=moment) for name in ("ann", "cy")]
    for n, (meta, _) in enumerate(METAS):
        lines.append(comment(f"a{n}", body=f"secret {n}", author="cy", created_utc=moment, _meta=meta))
        lines.append(comment(f"b{n}", body="an answer", parent_id=f"t1_a{n}", created_utc=moment))
    path.write_bytes(b"".join(lines))
    manifest = build(tmp_path).run([str(path)])
    assert manifest is not None
    assert {name: n for name, n in manifest.drops.items() if "later" in name} == {
        "deleted_later": 2, "removed_later": 1,
    }  # fmt: skip
    found = (tmp_path / "out" / "raw" / "sarc.csv").read_text()
    for n, (_, reason) in enumerate(METAS):
        assert (f"secret {n}" in found) == (not reason)
    assert found.count("[deleted]") == 3  # as what is answered


def test_a_deletion_in_a_newer_dump_is_honoured(tmp_path: Path) -> None:
    old = comment("a", body="secret /s", retrieved_on=100) + comment("b", body="stays /s", retrieved_on=100)
    new = comment("a", body="[deleted]", author="[deleted]", retrieved_on=200) + comment("b", retrieved_on=50)
    (tmp_path / "RC_old").write_bytes(old)
    (tmp_path / "RC_new").write_bytes(new)
    manifest = build(tmp_path).run([str(tmp_path / "RC_old"), str(tmp_path / "RC_new")])
    assert manifest is not None
    assert (manifest.drops["deleted_later"], manifest.drops["duplicate"]) == (1, 2)
    assert b"secret" not in (tmp_path / "out" / "raw" / "sarc.csv").read_bytes()
    assert b"stays" in (tmp_path / "out" / "raw" / "sarc.csv").read_bytes()


def test_what_was_allowed_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", body="oh /s") + b'{"id": "cut')
    work = build(tmp_path, allow_truncated=True)
    manifest = work.run([str(path)])
    assert manifest is not None
    assert manifest.config["allow_truncated"] == {"RC_2010-01": "ends in the middle of a line"}
    assert any("only in part" in note for note in work.notes)


def test_a_corpus_without_a_marker_warns(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a"))
    work = build(tmp_path)
    work.run([str(path)])
    assert any("no kept comment ends in a marker (/s)" in note for note in work.notes)


def test_authors_stay_forgotten_and_unknown_names_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", author="Ann", body="mine /s") + comment("b", author="bob", body="his /s"))
    names = tmp_path / "forget.txt"
    names.write_text("U/aNN\nhttps://www.reddit.com/user/nobody/\n")
    work = build(tmp_path, forget=names)
    assert work.run([str(path)]).drops["forgotten"] == 1  # type: ignore[union-attr]
    assert work.notes[0] == "Warning: --forget names 1 authors who are in no dump: nobody"
    manifest = build(tmp_path).run([str(path)])
    assert manifest is not None
    assert manifest.drops["forgotten"] == 1
    shutil.rmtree(tmp_path / "out" / ".work")
    again = build(tmp_path).run([str(path)])
    assert again is not None
    assert again.drops["forgotten"] == 1
    assert b"mine" not in (tmp_path / "out" / "raw" / "sarc.csv").read_bytes()
    assert "ann" not in (tmp_path / "out" / "forgotten.json").read_text().lower()


def build(tmp_path: Path, *paths: Path, **options: object) -> Build:
    return Build(
        tmp_path / "out",
        settings_of(tmp_path),
        BuildOptions(memory="500MB", **options),  # type: ignore[arg-type]
    )


def test_a_truncated_dump_is_named_and_its_lines_are_only_used_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01.gz"
    packed = gzip.compress(LINES + comment("m", body="sure /s"))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"RC_2010-01\.gz: truncated or damaged.*--allow-truncated"):
        build(tmp_path).run([str(path)], until="ingest")
    assert not list((tmp_path / "out" / ".work").glob("comments-*"))
    manifest = build(tmp_path, allow_truncated=True).run([str(path)])
    assert manifest is not None
    assert 1_000 < manifest.counts["lines"] < 4_000
    assert manifest.drops["unreadable"] <= 1


def test_a_plain_dump_cut_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(LINES[:-20])
    with pytest.raises(DataError, match="in the middle of a line"):
        build(tmp_path).run([str(path)], until="ingest")
    path.write_bytes(LINES.rstrip(b"\n"))  # whole, but for the last end of line
    build(tmp_path).run([str(path)], until="ingest")


@pytest.mark.parametrize("packed", [False, True])
def test_unreadable_lines_are_counted_where_they_are(tmp_path: Path, packed: bool) -> None:
    data = b"\n" + comment("a") + b"   \nbroken\n" + comment("b") + b"{}\n"
    path = tmp_path / ("RC_2010-01.gz" if packed else "RC_2010-01")
    path.write_bytes(gzip.compress(data) if packed else data)
    work = build(tmp_path)
    work.run([str(path)], until="ingest")
    unit = json.loads(next((tmp_path / "out" / ".work").glob("comments-*/unit.json")).read_text())
    assert unit["unreadable"] == 2
    assert unit["lines"] == [4, 6]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("RC_2010-01", b"hello\nworld\n", "none of its 2 lines is a comment"),
        ("RC_2010-01", b"", "it is empty"),
        ("RC_2010-01.zst", b"not zstd at all", "truncated or damaged"),
        ("RC_2010-01", comment("a") + comment("b", created_utc=1264982400), "its name says one month.*--mixed-months"),
        ("other.txt", b"hello\n", "not a dump"),
        ("RS_2010-01", b'{"id":"p"}\n', "only submissions"),
    ],
)
def test_a_file_that_is_not_a_dump_is_an_error(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=said):
        build(tmp_path).run([str(path)], until="ingest")


def test_months_come_from_the_comments(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", created_utc=1264982400, body="oh /s"))
    work = build(tmp_path)
    manifest = work.run([str(path)])
    assert manifest is not None
    assert manifest.counts["2010-02/kept"] == 1


def test_no_comment_in_the_requested_months(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a"))
    settings = settings_of(tmp_path, first_month="2012-01")
    with pytest.raises(ConfigError, match="the dumps have 2010-01"):
        Build(tmp_path / "out", settings).run([str(path)], until="ingest")


@pytest.mark.real_corpora
def test_real_early_months(tmp_path: Path, real_corpora: Path) -> None:
    folder = real_corpora / "pushshift"
    work = build(tmp_path)
    work.run(
        [str(folder / "RC_2005-12.zst"), str(folder / "RC_2006-01.zst"), str(folder / "RS_2019-10.zst")], until="ingest"
    )
    units = [json.loads(p.read_text()) for p in (tmp_path / "out" / ".work").glob("comments-*/unit.json")]
    assert sorted(list(unit["months"].items()) for unit in units) == [[("200512", 1075)], [("200601", 3666)]]
    assert all(unit["unreadable"] == 0 for unit in units)


def test_no_decoder_for_zst_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(b"")
    monkeypatch.setattr("deadpan.corpus.lines.ZSTD", "backports_of_nothing")
    with pytest.raises(MissingExtra, match=r"deadpan\[corpus\].*: pip install "):
        build(tmp_path).run([str(path)], until="ingest")


FULL = {
    "deadpan.corpus.checkpoints.flush": "",
    "deadpan.corpus.threads.thread_tables": "candidates-*",
    "deadpan.corpus.write.Outputs.write_lines": "threads-*",
}
"""What writes when the disk is full, from the first step to the last, and a step that is finished then."""


def test_a_full_disk_keeps_finished_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", body="oh /s"))

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    for writes, kept in FULL.items():
        with monkeypatch.context() as patch:
            patch.setattr(writes, full)
            with pytest.raises(DataError, match="disk full; finished steps are kept"):
                build(tmp_path).run([str(path)])
        assert not kept or list((tmp_path / "out" / ".work").glob(kept))
    assert build(tmp_path).run([str(path)]) is not None
