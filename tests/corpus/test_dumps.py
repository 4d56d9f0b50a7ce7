"""Dumps as they are published, packed in every way, and what is said of those that are not whole."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.making import settings_of
from deadpan.corpus.build import Build, BuildOptions
from deadpan.corpus.dumps import find_dumps
from deadpan.corpus.frames import ends_early
from deadpan.corpus.ingest import IngestOptions
from deadpan.corpus.lines import open_lines, raw_lines
from deadpan.errors import ConfigError, DataError


def comment(id: str, **fields: object) -> bytes:
    row = {
        "id": id,
        "body": "fine",
        "author": "ann",
        "created_utc": 1262304000,
        "parent_id": "t3_p",
        "link_id": "t3_p",
    }
    return json.dumps(row | fields).encode() + b"\n"


LINES = b"".join(comment(f"c{n}", body=f"number {n} {'x' * 50}") for n in range(4_000))


def zst(data: bytes) -> bytes:
    if not shutil.which("zstd"):
        pytest.skip("no zstd program to pack with")
    return subprocess.run(["zstd", "-qc", "--long=31"], input=data, capture_output=True, check=True).stdout


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".zst": zst, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress, "": bytes,
}  # fmt: skip


def read_all(path: Path) -> tuple[bytes, str]:
    with open_lines(path) as lines:
        data = b"".join(lines.blocks())
        return data, lines.decoder.damage()


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz", ""])
def test_every_packing_gives_the_same_lines(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"RC_2010-01{suffix}"
    path.write_bytes(PACK[suffix](LINES))
    assert read_all(path) == (LINES, "")


either_way = pytest.mark.parametrize("missing", ["shutil.which", "find_spec"])
"""Packed files are read by a library where the programs are not installed, and the other way round."""


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(f"deadpan.corpus.decoders.{missing}", lambda name: None)


@either_way
@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz"])
def test_a_file_that_ends_early_is_not_taken_as_whole(
    tmp_path: Path, suffix: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = PACK[suffix](LINES)
    without(monkeypatch, missing)
    path = tmp_path / f"RC_2010-01{suffix}"
    path.write_bytes(packed)
    assert read_all(path) == (LINES, "")
    for share in (0.1, 0.67, 0.999):
        path.write_bytes(packed[: int(len(packed) * share)])
        assert read_all(path)[1]


@either_way
def test_several_frames_in_one_file(tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00any"
    packed = zst(LINES) + skipped + zst(LINES)
    without(monkeypatch, missing)
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(packed)
    assert read_all(path) == (LINES + LINES, "")
    for end in (3, 40):
        path.write_bytes(packed[:-end])
        assert read_all(path)[1]


@pytest.mark.parametrize("options", [[], ["--no-check"], ["--no-content-size"], ["-1", "--single-thread"]])
def test_where_a_zst_file_ends_is_seen_at_once(tmp_path: Path, options: list[str]) -> None:
    path, data = tmp_path / "RC_2010-01.zst", LINES + bytes(1_000_000)
    plain = tmp_path / "plain"
    plain.write_bytes(data)
    zst(b"")
    subprocess.run(["zstd", "-q", *options, str(plain), "-o", str(path)], check=True)
    packed = path.read_bytes()
    for end, early in ((0, False), (1, True), (4, True), (len(packed) // 2, True), (len(packed) - 3, True)):
        path.write_bytes(packed[: len(packed) - end])
        with path.open("rb") as file:
            assert ends_early(file.fileno()) == early


def test_a_download_with_zeros_in_it_is_not_whole(tmp_path: Path) -> None:
    packed = zst(LINES)
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(packed[:20] + bytes(10_000_000))
    began = time.process_time()
    assert read_all(path)[1]
    assert (
        time.process_time() - began < 2
    )  # zeros are blocks of no length: one could walk through them for hours


def test_a_line_longer_than_any_comment_is_no_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadpan.corpus.lines.BLOCK", 512)
    monkeypatch.setattr("deadpan.corpus.lines.LONGEST_LINE", 10_000)
    monkeypatch.setattr("deadpan.corpus.ingest.PART", 8_000)
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", body="x" * 9_000))
    build(tmp_path).run([str(path)], until="ingest")
    path.write_bytes(comment("a", body="x" * 12_000))
    with pytest.raises(DataError, match="not a dump: a line of more than"):
        build(tmp_path).run([str(path)], until="ingest")


def build(tmp_path: Path, *paths: Path, **options: object) -> Build:
    return Build(
        tmp_path / "out",
        settings_of(tmp_path),
        BuildOptions(memory="500MB", ingest=IngestOptions(**options)),  # type: ignore[arg-type]
    )


def test_a_truncated_dump_is_named_and_its_lines_are_only_used_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01.gz"
    packed = gzip.compress(LINES + comment("m", body="sure /s"))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"RC_2010-01\.gz: ends early.*--allow-truncated"):
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
        ("RC_2010-01.zst", b"not zstd at all", "ends early or is damaged"),
        (
            "RC_2010-01",
            comment("a") + comment("b", created_utc=1264982400),
            "its name says one month.*--mixed-months",
        ),
        ("other.txt", b"hello\n", "not a dump"),
        ("RS_2010-01", b'{"id":"p"}\n', "only submissions"),
    ],
)
def test_what_is_no_dump_says_so(tmp_path: Path, name: str, data: bytes, said: str) -> None:
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


def test_no_dumps_match(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no dumps match"):
        find_dumps([str(tmp_path / "RC_*")])
    with pytest.raises(DataError, match="no dumps match"):
        find_dumps([str(tmp_path)])


def test_no_comment_in_the_months_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a"))
    settings = settings_of(tmp_path, first_month="2012-01")
    with pytest.raises(ConfigError, match="the dumps have 2010-01"):
        Build(tmp_path / "out", settings).run([str(path)], until="ingest")


def test_folders_globs_and_files_are_found_once(tmp_path: Path) -> None:
    for name in ("RC_2010-02", "RC_2010-01", "RS_2010-01", "notes.txt"):
        (tmp_path / name).write_bytes(comment("a"))
    found = find_dumps([str(tmp_path), str(tmp_path / "RC_*"), str(tmp_path / "RC_2010-01")])
    assert [dump.path.name for dump in found] == ["RC_2010-01", "RC_2010-02", "RS_2010-01"]


def test_raw_lines_by_row(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"one\n\n two\r\nthree")
    assert raw_lines(path, [0, 1, 2]) == {0: (1, b"one"), 1: (3, b" two"), 2: (4, b"three")}


@pytest.mark.shared
def test_real_early_months(tmp_path: Path, shared: Path) -> None:
    folder = shared / "pushshift"
    work = build(tmp_path)
    work.run(
        [str(folder / "RC_2005-12.zst"), str(folder / "RC_2006-01.zst"), str(folder / "RS_2019-10.zst")],
        until="ingest",
    )
    units = [json.loads(p.read_text()) for p in (tmp_path / "out" / ".work").glob("comments-*/unit.json")]
    assert sorted(list(unit["months"].items()) for unit in units) == [[("200512", 1075)], [("200601", 3666)]]
    assert all(unit["unreadable"] == 0 for unit in units)


def test_nothing_to_unpack_zst_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(b"")
    monkeypatch.setattr("deadpan.corpus.decoders.shutil.which", lambda name: None)
    monkeypatch.setattr("deadpan.corpus.decoders.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"nothing to read .zst.*pip install zstandard"):
        build(tmp_path).run([str(path)], until="ingest")


@pytest.mark.parametrize(
    "writes", ["deadpan.corpus.outputs.Outputs.sequences", "deadpan.corpus.workshop.flush"]
)
def test_a_disk_that_fills_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: str
) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(comment("a", body="oh /s"))
    work = build(tmp_path)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(writes, full)
        with pytest.raises(DataError, match="the disk is full; finished steps are kept"):
            work.run([str(path)])
    assert list((tmp_path / "out" / ".work").glob("threads-*"))
    assert build(tmp_path).run([str(path)]) is not None
