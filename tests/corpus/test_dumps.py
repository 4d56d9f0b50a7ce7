"""Dumps found by files, folders and globs; whatever else a folder has is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.dumping import comment
from deadpan.corpus import dumps as module
from deadpan.corpus.dumps import any_synthetic, find_dumps
from deadpan.corpus.lines import read_beside
from deadpan.errors import DataError


def test_folders_globs_and_files_are_found_once(tmp_path: Path) -> None:
    for name in ("RC_2010-02", "RC_2010-01", "RS_2010-01"):
        (tmp_path / name).write_bytes(comment("a"))
    found, skipped = find_dumps([str(tmp_path), str(tmp_path / "RC_*"), str(tmp_path / "RC_2010-01")])
    assert [dump.path.name for dump in found] == ["RC_2010-01", "RC_2010-02", "RS_2010-01"]
    assert skipped == []


def test_folders_are_read_to_any_depth_and_what_is_no_dump_is_named(tmp_path: Path) -> None:
    (tmp_path / "reddit" / "comments").mkdir(parents=True)
    (tmp_path / "reddit" / "comments" / "RC_2010-01").write_bytes(comment("a"))
    (tmp_path / "reddit" / "rc_2010-02").write_bytes(comment("b"))
    (tmp_path / "AskReddit_submissions").write_bytes(b'{"id":"p","title":"x"}\n')
    (tmp_path / "january.ndjson").write_bytes(comment("c"))
    (tmp_path / "SHA256SUMS").write_text("00 RC_2010-01\n")
    (tmp_path / ".DS_Store").write_text("x")
    found, skipped = find_dumps([str(tmp_path)])
    kinds = {dump.path.name: dump.kind for dump in found}
    assert kinds == {
        "RC_2010-01": "comments", "rc_2010-02": "comments", "january.ndjson": "comments",
        "AskReddit_submissions": "posts",
    }  # fmt: skip
    assert skipped == [tmp_path / "SHA256SUMS"]
    assert {dump.named_month for dump in found} == {201001, 201002, None}


def test_a_manifest_is_looked_up_once_for_each_folder(tmp_path: Path, monkeypatch) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for month in range(1, 4):
            (tmp_path / folder / f"RC_2010-0{month}").write_bytes(comment("a"))
    found, _ = find_dumps([str(tmp_path)])
    asked = []

    def count(place: Path, name: str) -> bytes | None:
        asked.append(place.parent.name)
        return read_beside(place, name)

    monkeypatch.setattr(module, "read_beside", count)
    assert not any_synthetic(found)
    assert sorted(asked) == ["a", "b"]
    (tmp_path / "b" / "manifest.json").write_text('{"command": "corpus synthesize"}')
    assert any_synthetic(found)
    (tmp_path / "b" / "manifest.json").write_text("[" * 100_000)
    assert not any_synthetic(found)


def test_no_dumps_match(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no dumps match"):
        find_dumps([str(tmp_path / "RC_*")])
    with pytest.raises(DataError, match="no dumps match"):
        find_dumps([str(tmp_path)])
