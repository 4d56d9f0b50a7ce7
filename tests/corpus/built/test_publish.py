"""A published corpus: what it has and has not, and ids that become the same texts again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.making import files, settings_of
from deadpan.corpus import BuiltCorpus, fill_index, publish_corpus
from deadpan.errors import DataError
from deadpan.formats.sarc import SarcSequence
from deadpan.storage import read_manifest, read_records


def dumps_of(built: Path) -> list[str]:
    return [str(path) for path in sorted((built.parent / "dumps").glob("R*"))]


def test_a_published_corpus_has_benchmarks_as_configurations_and_nothing_private(built: Path, tmp_path: Path) -> None:
    found = publish_corpus(built, tmp_path / "public")
    names = {path.relative_to(tmp_path / "public").as_posix() for path in (tmp_path / "public").rglob("*")}
    assert not any(name.startswith(".") or "unreadable" in name or name.startswith("raw/") for name in names)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "public").rglob("*") if path.suffix != ".parquet"
                          and path.is_file())  # fmt: skip
    assert str(built).encode() not in everything and str(tmp_path).encode() not in everything
    card = (tmp_path / "public" / "README.md").read_text()
    assert "main-unbalanced" in card and "author_unaware" in card
    corpus = BuiltCorpus(built)
    path = tmp_path / "public" / "benchmarks" / "main-unbalanced" / "test.parquet"
    assert list(read_records(path, SarcSequence)) == list(corpus.sequences("main", "test"))
    assert read_manifest(tmp_path / "public").drops == corpus.manifest.drops
    assert publish_corpus(built, tmp_path / "public") == found  # an earlier copy is replaced
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for place in ("mine", "mine/notes.txt/x"):
        with pytest.raises(DataError, match="choose another --to"):
            publish_corpus(built, tmp_path / place)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_ids_become_the_texts_of_the_build_byte_for_byte(built: Path, tmp_path: Path) -> None:
    publish_corpus(built, tmp_path / "ids", ids_only=True)
    assert not list((tmp_path / "ids").rglob("*.parquet")) and not list((tmp_path / "ids").rglob("comments.json"))
    result = fill_index(tmp_path / "ids", dumps_of(built), tmp_path / "filled", memory="500MB")
    assert result.verified == result.ids and "Every text is the published one" in str(result)
    assert set(result.reasons) == {"deleted", "missing"}  # comments above the replies, gone from the build too
    ours, theirs = files(tmp_path / "filled"), files(built)
    for name in ("main/comments.json", "pol/comments.json", "main/train-balanced.csv"):
        assert ours[name] == theirs[name]
    assert not (tmp_path / "filled" / ".work").exists()
    alone = fill_index(built / "raw" / "sequences.csv", dumps_of(built), tmp_path / "raw", memory="500MB")
    assert files(tmp_path / "raw")["comments.json"] == theirs["raw/comments.json"]
    assert alone.verified is None and "nothing proves" in str(alone)


def test_missing_deleted_and_changed_ids_are_listed(built: Path, tmp_path: Path) -> None:
    corpus = BuiltCorpus(built)
    ids = sorted(id for id, entry in corpus.entries("main") if entry["text"])[:3]
    (tmp_path / "list.txt").write_text("".join(f"t1_{id}\n" for id in [*ids, "zzzz"]))
    (tmp_path / "hashes.csv").write_text("id,sha256\n" + "".join(f"{id},{'0' * 64}\n" for id in ids))
    comments = [path for path in dumps_of(built) if "RC_" in path]
    result = fill_index(tmp_path / "list.txt", comments, tmp_path / "out", memory="500MB")
    assert result.reasons["missing"] >= 1 and result.reasons["changed"] >= 1 and result.verified == 0
    listed = (tmp_path / "out" / "not-filled.csv").read_text()
    assert "zzzz,missing\n" in listed
    entries = json.loads((tmp_path / "out" / "comments.json").read_text())
    assert set(entries) == {id for id in ids if f"{id},missing" not in listed}


def test_bad_input_is_one_line_and_leaves_nothing(built: Path, tmp_path: Path) -> None:
    (tmp_path / "unknown.txt").write_text("zzz1\nzzz2\n")
    with pytest.raises(DataError, match=r"none of the 2 ids is in these dumps \(2010-01 to 2010-02\)"):
        fill_index(tmp_path / "unknown.txt", dumps_of(built), tmp_path / "out", memory="500MB")
    assert not list((tmp_path / "out").rglob("*.parquet"))  # the texts of the dumps
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match=r"empty\.txt: no ids in it"):
        fill_index(tmp_path / "empty.txt", dumps_of(built), tmp_path / "out", memory="500MB")
    (tmp_path / "not.txt").write_text("two words, no id\n")
    with pytest.raises(DataError, match=r"not\.txt:1: 'two words' is not an id"):
        fill_index(tmp_path / "not.txt", dumps_of(built), tmp_path / "out", memory="500MB")
    assert not (tmp_path / "out" / "comments.json").exists() and not (tmp_path / "out" / ".versions").exists()
    with pytest.raises(DataError, match="cannot be written"):
        fill_index(tmp_path / "unknown.txt", dumps_of(built), tmp_path / "not.txt" / "out", memory="500MB")
    with pytest.raises(DataError, match="not written by deadpan corpus fill"):
        fill_index(tmp_path / "unknown.txt", dumps_of(built), built, memory="500MB")
    assert settings_of(tmp_path) and BuiltCorpus(built)
