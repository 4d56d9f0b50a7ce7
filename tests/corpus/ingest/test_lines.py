"""Lines of a dump: in parts, looked up by row, and without those that are too long."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from deadpan.corpus.ingest.lines import Lines, open_lines, raw_lines
from deadpan.corpus.ingest.spool import Spool


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
    monkeypatch.setattr("deadpan.corpus.ingest.lines.BLOCK", 16)
    monkeypatch.setattr("deadpan.corpus.ingest.lines.LONGEST_LINE", 100)
    random = Random(seed)
    lines = [b"x" * random.choice([0, 5, 30, 99, 100, 101, 116, 300]) for _ in range(40)]
    path = tmp_path / "RC_2010-01"
    path.write_bytes(b"\n".join(lines) + random.choice([b"", b"\n"]))
    found, read = parts(path, 200)
    assert b"".join(found).split() == [line for line in lines if 0 < len(line) <= 100]
    assert read.too_long == [number for number, line in enumerate(lines, 1) if len(line) > 100]
    assert all(part.endswith(b"\n") for part in found[:-1] if part)
