"""Decompression: every format gives the same bytes, and truncation is detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.dumping import LINES, PACK, read_all, zst

either_way = pytest.mark.parametrize("missing", ["shutil.which", "find_spec"])
"""Packed files are read by a library where the programs are not installed, and the other way round."""


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(f"deadpan.corpus.ingest.decoders.{missing}", lambda name: None)


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz", ""])
def test_every_compression_gives_the_same_lines(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"RC_2010-01{suffix}"
    path.write_bytes(PACK[suffix](LINES))
    assert read_all(path) == (LINES, "")


def test_suffixes_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01.ZST"
    path.write_bytes(zst(LINES))
    assert read_all(path) == (LINES, "")


@either_way
def test_a_download_with_missing_parts_is_detected(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = bytearray(zst(LINES))
    packed[len(packed) // 2 :] = bytes(len(packed) - len(packed) // 2)
    without(monkeypatch, missing)
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(packed)
    assert read_all(path)[1]


@either_way
@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz"])
def test_a_truncated_file_is_detected(
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
