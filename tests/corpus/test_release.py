"""Publishing is one step, and files that deadpan did not write are never overwritten or deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.dumping import comment
from corpus.killing import killed
from corpus.making import run
from deadpan.corpus.release import remove_old_versions, switch_version
from deadpan.errors import DataError
from deadpan.storage import digest, read_manifest


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
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    (tmp_path / "out" / "raw" / "notes.txt").write_text("mine")
    (tmp_path / "out" / "thesis").mkdir()
    (tmp_path / "RC_2010-01").write_bytes(comment("b", body="sure /s"))
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    assert (tmp_path / "out" / "raw" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "out" / "thesis").is_dir()
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


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a corpus, `out`, and with the next version of it, `next`, not yet published."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "RC_2010-01").write_bytes(comment("a", body="sure /s"))
    run(folder, [str(folder / "RC_2010-01")])
    (folder / "out" / "main" / "notes.txt").write_text("mine")
    (folder / "RC_2010-02").write_bytes(comment("b", body="oh great /s", created_utc=1264982400))
    run(folder, [str(folder / "RC_2010-01"), str(folder / "RC_2010-02")], out="later")
    (folder / "later" / ".current").resolve().rename(folder / "next")
    (folder / "next" / "news.txt").write_text("only in the new version")
    return folder


def state(out: Path) -> tuple[str, ...]:
    """Return the hashes of all files in the manifest, after comparing them with the files that people see."""
    manifest = read_manifest(out)
    assert {name: digest(out / name) for name in manifest.files} == {n: f["sha256"] for n, f in manifest.files.items()}
    return tuple(sorted(facts["sha256"] for facts in manifest.files.values()))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_kill_at_any_moment_of_publishing_leaves_one_whole_version(prepared: Path, tmp_path: Path) -> None:
    """Every change that publishing makes to the disk is the last one before a kill -9, once."""
    before = state(prepared / "out")
    number, seen = 0, set()
    while True:
        out, fresh = tmp_path / str(number) / "out", tmp_path / str(number) / "fresh"
        shutil.copytree(prepared / "out", out, symlinks=True)
        shutil.copytree(prepared / "next", fresh)
        ended = not killed(number, lambda: switch_version(out, fresh))  # noqa: B023
        found = state(out)
        seen.add(found)
        remove_old_versions(out)  # as the next run does
        assert state(out) == found
        assert (out / "main" / "notes.txt").read_text() == "mine"
        assert (out / "news.txt").exists() == (found != before)
        assert all(path.exists() for path in out.iterdir())
        if ended:
            break
        number += 1
    assert number >= 30
    assert len(seen) == 2 and found != before
