"""Temporary files of decompressed parts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deadpan.corpus.lines import Spool


def test_parts_follow_each_other_in_one_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100)
    for text in (b"a longer part", b"short"):
        spool.open()
        spool.view[: len(text)] = text
        spool.cut(len(text))
        assert Path(spool.path).read_bytes() == text
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="No space left"):
        Spool(tmp_path, 100)
    assert list(tmp_path.iterdir()) == []
