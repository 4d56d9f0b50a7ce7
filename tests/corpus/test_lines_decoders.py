"""Decompression: every format gives the same bytes, and truncation is detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.dumping import LINES, PACK, read_all, zst


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz", ""])
def test_every_compression_gives_the_same_lines(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"RC_2010-01{suffix}"
    path.write_bytes(PACK[suffix](LINES))
    assert read_all(path) == (LINES, "")


def test_suffixes_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01.ZST"
    path.write_bytes(zst(LINES))
    assert read_all(path) == (LINES, "")


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz"])
def test_a_download_with_missing_parts_is_detected(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACK[suffix](LINES))
    packed[len(packed) // 2 :] = bytes(len(packed) - len(packed) // 2)
    path = tmp_path / f"RC_2010-01{suffix}"
    path.write_bytes(packed)
    assert read_all(path)[1]


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".gz", ".xz"])
def test_a_truncated_file_is_detected(tmp_path: Path, suffix: str) -> None:
    packed = PACK[suffix](LINES)
    path = tmp_path / f"RC_2010-01{suffix}"
    for share in (0.0, 0.1, 0.67, 0.999):
        path.write_bytes(packed[: int(len(packed) * share)])
        read, damage = read_all(path)
        assert damage or (share == 0 and not read)
        assert LINES.startswith(read)


def test_what_comes_before_a_truncation_is_not_lost(tmp_path: Path) -> None:
    packed = zst(LINES)
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(packed + packed[:-5])
    read, damage = read_all(path)
    assert damage
    assert len(read) >= len(LINES)


def test_several_frames_in_one_file(tmp_path: Path) -> None:
    skipped = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00any"
    packed = zst(LINES) + skipped + zst(LINES)
    path = tmp_path / "RC_2010-01.zst"
    path.write_bytes(packed)
    assert read_all(path) == (LINES + LINES, "")
    for end in (3, 40):
        path.write_bytes(packed[:-end])
        assert read_all(path)[1]


def test_a_window_that_no_dump_has_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01.zst"
    # Magic number, then a frame header without a size of the content: a window of 2 to the power of 41.
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\xf8" + bytes(100))
    read, damage = read_all(path)
    assert read == b""
    assert "window" in damage or "memory" in damage
