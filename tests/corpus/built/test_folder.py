"""A finished folder: its checks, its summary, and the readers of the release on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadpan.corpus import BuiltCorpus
from deadpan.datasets import open_dataset
from deadpan.errors import DataError
from deadpan.formats.sarc import SarcSequence
from deadpan.storage import read_manifest, read_records


def test_the_readers_of_the_release_read_it(built: Path) -> None:
    manifest = read_manifest(built)
    raw = list(open_dataset("sarc-raw", built / "raw"))
    assert len(raw) == manifest.counts["comments"]
    assert sum(example.label is True for example in raw) == manifest.counts["sarcastic"]
    reader = open_dataset("sarc-main", built / "main")
    pairs = list(reader)
    assert "no_text" not in reader.tally.drops
    assert len(pairs) == 2 * sum(
        len((built / "main" / f"{side}-balanced.csv").read_text().splitlines()) for side in ("train", "test")
    )
    assert sum(bool(example.label) for example in pairs) * 2 == len(pairs)
    assert list(open_dataset("sarc-pol-unbalanced", built / "pol"))


def test_an_unfinished_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        BuiltCorpus(tmp_path / "nothing")
    with pytest.raises(DataError, match="run deadpan corpus build again"):
        BuiltCorpus(tmp_path)


def test_a_corpus_shows_itself(built: Path) -> None:
    corpus = BuiltCorpus(str(built))
    counts = corpus.manifest.counts
    assert f"{counts['comments']:,} comments" in repr(corpus)
    assert len(repr(corpus)) < 300
    assert f"{corpus.manifest.drops['author_unaware']:,}" in str(corpus)
    assert all(len(line) <= 80 or str(built) in line for line in str(corpus).splitlines())
    assert "<table>" in corpus._repr_html_()
    assert json.loads(json.dumps(corpus.as_dict()))["counts"]["lines"] == counts["lines"]


def test_sequences_have_texts_and_labels_in_python_and_parquet(built: Path, tmp_path: Path) -> None:
    corpus = BuiltCorpus(built)
    found = list(corpus.sequences())
    lines = [(side, line) for side in ("train", "test") for line in corpus.index(f"main/{side}-unbalanced.csv")]
    entries = dict(corpus.entries("main"))
    assert [(one.split, one.id) for one in found] == [(side, line.last) for side, line in lines]
    for one, (_, line) in zip(found, lines, strict=True):
        assert [reply.label for reply in one.replies] == list(line.labels)
        assert [reply.text for reply in one.replies] == [entries[id]["text"] for id in line.responses]
        assert [above.id for above in one.ancestors] == list(line.ancestors)
        assert {above.label for above in one.ancestors} == {None}
    assert corpus.write_sequences(tmp_path / "sequences.parquet") == len(found)
    assert list(read_records(tmp_path / "sequences.parquet", SarcSequence)) == found
    pairs = list(corpus.sequences(split="test", balanced=True))
    assert pairs and all(sorted(reply.label for reply in one.replies) == [False, True] for one in pairs)
    assert len(list(corpus.sequences("raw"))) == corpus.manifest.counts["sequences"]
