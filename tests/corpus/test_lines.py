"""Lines of a dump: in parts, looked up by row, and without those that are too long."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from deadpan.corpus.lines import Lines, Spool, open_lines, raw_lines


def test_raw_lines_by_row(tmp_path: Path) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"one\n\n two\r\nthree")
    assert list(raw_lines(path, [0, 1, 2])) == [(0, 1, b"one"), (1, 3, b" two"), (2, 4, b"three")]
    assert list(raw_lines(path, [1])) == [(1, 3, b" two")]
    assert list(raw_lines(path, [])) == []


def parts(path: Path, most: int) -> tuple[list[bytes], Lines]:
    spool = Spool(path.parent, most + 500)
    found = []
    with open_lines(path) as lines:
        while not lines.ended:
            lines.fill(spool, most)
            found.append(Path(spool.path).read_bytes())
    spool.close()
    return found, lines


@pytest.mark.parametrize("seed", range(20))
def test_lines_that_are_too_long_are_left_out_and_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("deadpan.corpus.lines.BLOCK_BYTES", 16)
    monkeypatch.setattr("deadpan.corpus.lines.LONGEST_LINE", 100)
    random = Random(seed)
    lines = [b"x" * random.choice([0, 5, 30, 99, 100, 101, 116, 300]) for _ in range(40)]
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"\n".join(lines) + random.choice([b"", b"\n"]))
    found, read = parts(path, 200)
    assert b"".join(found).split() == [line for line in lines if 0 < len(line) <= 100]
    assert read.too_long == [number for number, line in enumerate(lines, 1) if len(line) > 100]
    assert all(part.endswith(b"\n") for part in found[:-1] if part)


@pytest.fixture
def blocks_of_16(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("deadpan.corpus.lines.BLOCK_BYTES", 16)
    return monkeypatch


@pytest.mark.parametrize(
    ("lengths", "sizes"), [([15] * 5, [32, 32, 16]), ([90, 5, 15], [91, 22]), ([15, 40, 3], [16, 45])]
)
def test_a_part_ends_with_a_line_when_it_is_large_enough(
    tmp_path: Path, blocks_of_16: pytest.MonkeyPatch, lengths: list[int], sizes: list[int]
) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"".join(b"x" * length + b"\n" for length in lengths))
    assert [len(part) for part in parts(path, 32)[0] if part] == sizes


@pytest.mark.parametrize(("content", "count"), [(b"", 0), (b"a\n\nb\n", 3), (b"a\n\nb", 3), (b"\n", 1)])
def test_a_last_line_counts_with_or_without_its_end(tmp_path: Path, content: bytes, count: int) -> None:
    path = tmp_path / "RC_2010-01"
    path.write_bytes(content)
    assert parts(path, 100)[1].count == count


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b"one\ntwo\n", b"one"),
        (b"x" * 20 + b"\ntwo", b"x" * 20),
        (b"alone", b"alone"),
        (b"x" * 100, b"x" * 32),  # it should have ended there, so this is no dump
    ],
)
def test_the_first_line(tmp_path: Path, blocks_of_16: pytest.MonkeyPatch, content: bytes, first: bytes) -> None:
    blocks_of_16.setattr("deadpan.corpus.lines.FIRST_LINE", 32)
    path = tmp_path / "RC_2010-01"
    path.write_bytes(content)
    with open_lines(path) as lines:
        assert lines.head() == first


def test_a_line_that_is_too_long_is_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadpan.corpus.lines.LONGEST_LINE", 5)
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"12345\n123456\nx\n")
    assert list(raw_lines(path, [0, 1])) == [(0, 1, b"12345"), (1, 3, b"x")]
