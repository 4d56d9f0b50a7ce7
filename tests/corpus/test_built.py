"""What is done with a finished corpus: read by the readers of the release, checked, studied, drawn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from corpus.making import files
from deadpan.corpus.audit import write_audit, write_pairs
from deadpan.corpus.conversations import BuiltCorpus
from deadpan.corpus.figures import write_figures
from deadpan.corpus.verify import verify
from deadpan.datasets import open_dataset
from deadpan.errors import DataError
from deadpan.storage import read_manifest
from deadpan.studies import read_study


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


def test_every_rule_holds(built: Path) -> None:
    report = verify(BuiltCorpus(built))
    assert report.wrong == {}
    assert len(report.checked) >= 20
    assert all(report.checked.values())


@pytest.mark.parametrize(
    ("name", "old", "new", "rule"),
    [
        ("raw/sequences.csv", b"|1", b"|0", "one of them sarcastic"),
        ("raw/sarc.tsv", b"\t2010-01\t", b"\t2010-02\t", "sarc.tsv says"),
        ("main/train-balanced.csv", b"0 1\n", b"0 0\n", "pairs are one of each"),
        ("stats.json", b"totals", b"Totals", "files are those of the manifest"),
    ],
)
def test_what_was_changed_by_hand_is_found(
    tmp_path: Path, built: Path, name: str, old: bytes, new: bytes, rule: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy, ignore=shutil.ignore_patterns(".work"))
    data = (copy / name).read_bytes()
    assert old in data
    (copy / name).write_bytes(data.replace(old, new, 1))
    assert any(rule in found for found in verify(BuiltCorpus(copy)).wrong)


def test_an_unfinished_folder_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        BuiltCorpus(tmp_path / "nothing")
    with pytest.raises(DataError, match="build again to its end"):
        BuiltCorpus(tmp_path)


def test_the_audit_shows_the_words_with_their_marker(tmp_path: Path, built: Path) -> None:
    assert write_audit(BuiltCorpus(built), tmp_path / "audit", count=10) == 20
    study, items = read_study(tmp_path / "audit")
    assert study.protocol == "audit"
    sarcastic = [item for item in items if item.hidden["label"]]
    assert len(sarcastic) == 10
    assert all(item.response.text.rstrip("\u00a0 \n").endswith("/s") for item in sarcastic)
    assert all("/s" not in item.hidden["text"][-3:] for item in sarcastic)
    assert sum(bool(item.context) for item in items) > 15
    again = tmp_path / "again"
    write_audit(BuiltCorpus(built), again, count=10)
    assert files(again) == files(tmp_path / "audit")


def test_pairs_ask_which_of_two(tmp_path: Path, built: Path) -> None:
    count = write_pairs(BuiltCorpus(built), tmp_path / "pairs", count=8)
    study, items = read_study(tmp_path / "pairs")
    assert (study.protocol, study.raters_per_item) == ("choose", 5)
    assert count == len(items) > 3
    entries = BuiltCorpus(built).texts("main", (id for item in items for id in item.hidden["ids"]))
    for item in items:
        assert [entries[id]["text"] for id in item.hidden["ids"]] == list(item.options)
        assert item.hidden["answer"] in (0, 1)


def test_conversations_to_read(built: Path) -> None:
    examples = BuiltCorpus(built).conversations("main", 3, 0)
    assert len({example.sequence for example in examples}) == 3
    assert any(example.label for example in examples)


def test_figures(tmp_path: Path, built: Path) -> None:
    pytest.importorskip("matplotlib")
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    paths = write_figures(BuiltCorpus(copy), min_comments=10)
    assert sorted(path.name for path in paths) == [
        "lengths.png", "lengths.svg", "scores.png", "scores.svg", "subreddits.png", "subreddits.svg",
    ]  # fmt: skip
    assert "figures/scores.svg" in json.loads((copy / ".work" / "published.json").read_text())
    with pytest.raises(DataError, match="lower --min-comments"):
        write_figures(BuiltCorpus(copy), min_comments=10**9)
