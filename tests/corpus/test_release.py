"""Files that deadpan did not write are never overwritten or deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.dumping import comment
from corpus.making import run
from deadpan.errors import DataError


@pytest.mark.parametrize(
    "name", ["README.md", "stats.json", "raw/sarc.csv", "main/comments.json", ".work/thesis.txt", ".work/.notes",
             "parquet/month=2010-01/sarc.parquet", "forgotten.json"]
)  # fmt: skip
def test_a_foreign_file_is_refused_before_anything_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "RC_2010-01").write_bytes(comment("a", body="sure /s"))
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    path.write_text('{"mine": 1}')
    with pytest.raises(DataError, match="not written by deadpan"):
        run(tmp_path, [str(tmp_path / "RC_2010-01")])
    assert path.read_text() == '{"mine": 1}'
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == [path]


def test_other_files_stay_and_our_own_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "RC_2010-01").write_bytes(comment("a", body="sure /s"))
    (tmp_path / "out" / "raw").mkdir(parents=True)
    (tmp_path / "out" / "raw" / "notes.txt").write_text("mine")
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    (tmp_path / "RC_2010-01").write_bytes(comment("b", body="sure /s"))
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    assert (tmp_path / "out" / "raw" / "notes.txt").read_text() == "mine"
    assert b"b,p,p" in (tmp_path / "out" / "raw" / "sarc.csv").read_bytes()


@pytest.mark.parametrize("manifest", ["{", "[]", '{"name": "a web app"}', '{"command": "other"}'])
def test_somebody_elses_folder_beside_the_benchmarks_stays(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "RC_2010-01").write_bytes(comment("a", body="sure /s"))
    mine = tmp_path / "out" / "after-work"
    mine.mkdir(parents=True)
    (mine / "manifest.json").write_text(manifest)
    (mine / "notes.txt").write_text("mine")
    assert run(tmp_path, [str(tmp_path / "RC_2010-01")]) is not None
    assert (mine / "manifest.json").read_text() == manifest
    assert (mine / "notes.txt").read_text() == "mine"


def test_a_note_in_the_folder_of_an_old_benchmark_stays(tmp_path: Path) -> None:
    (tmp_path / "RC_2010-01").write_bytes(comment("a", body="sure /s"))
    old = tmp_path / "out" / "after-2010-02"
    old.mkdir(parents=True)
    (old / "comments.json").write_text("{}")
    (old / "notes.txt").write_text("mine")
    named = {"comments.json": {}, "../../kept.txt": {}}
    (old / "manifest.json").write_text(json.dumps({"command": "corpus update", "files": named}))
    (tmp_path / "kept.txt").write_text("mine")
    assert run(tmp_path, [str(tmp_path / "RC_2010-01")]) is not None
    assert [path.name for path in old.iterdir()] == ["notes.txt"]
    assert (tmp_path / "kept.txt").read_text() == "mine"
