"""Cleaning removes planted leaks with a reason each, and nothing from a clean corpus."""

from __future__ import annotations

import csv
from dataclasses import replace
from types import SimpleNamespace

import pytest

from deadpan.datasets import cleaning
from deadpan.datasets.cleaning import clean_dataset, clean_examples, content_digest
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn
from deadpan.stats import Interval
from deadpan.storage import read_manifest, read_records, write_records

TEXTS = [
    "the meeting about meetings was a triumph of planning",
    "my umbrella broke on the first windy morning of the year",
    "they promoted the man who deleted the whole database",
    "our neighbour practises the drums at midnight every week",
    "a queue of forty people for one open counter again",
    "the printer works whenever nobody needs to print anything",
    "she wrote the report in an hour and it was excellent",
    "the bus came on time and the driver waved at us",
]


def rows() -> list[Example]:
    return [
        Example(str(i), Turn(f"author{i}", text), label=i % 2 == 0, split="train" if i < 4 else "test", group=f"g{i}")
        for i, text in enumerate(TEXTS)
    ]


def reasons(cleaning):
    return {removal.id: (removal.reason, removal.because) for removal in cleaning.removed}


def test_nothing_is_removed_from_a_clean_corpus():
    cleaning = clean_examples(rows())
    assert cleaning.removed == ()
    assert [e.id for e in cleaning.examples] == [str(i) for i in range(8)]


def test_a_test_text_that_is_in_train_is_removed_from_test():
    leak = replace(rows()[1], id="leak", split="test", response=Turn("z", TEXTS[1].upper() + "!"))
    near = replace(rows()[2], id="near", split="test", response=Turn("z", TEXTS[2] + " today"))
    found = reasons(clean_examples([leak, near, *rows()]))  # test rows first: the order does not matter
    assert found == {"leak": ("identical", "1"), "near": ("near", "2")}


def test_a_text_with_both_labels_goes_altogether():
    other = replace(rows()[0], id="other", label=False)
    assert reasons(clean_examples([*rows(), other])) == {"0": ("conflict", "other"), "other": ("conflict", "0")}


def test_authors_and_threads_only_on_request():
    again = replace(rows()[0], id="again", split="test", response=Turn("author0", "an entirely different remark here"))
    examples = [*rows(), again]
    assert clean_examples(examples).removed == ()
    assert reasons(clean_examples(examples, also=["author"])) == {"again": ("author", "0")}
    assert reasons(clean_examples(examples, also=["thread"])) == {"again": ("thread", "0")}


def test_a_pair_is_removed_whole():
    paired = [replace(e, sequence=f"s{i // 2}", group=f"s{i // 2}") for i, e in enumerate(rows())]
    copy = replace(paired[0], id="copy", sequence="s9", split="test", group="s9")
    partner = replace(
        paired[1],
        id="partner",
        sequence="s9",
        split="test",
        group="s9",
        response=Turn("q", "something quite unlike all the rest"),
    )
    assert reasons(clean_examples([*paired, copy, partner])) == {
        "copy": ("identical", "0"),
        "partner": ("pair", "copy"),
    }


def test_files_hashes_and_reasons(tmp_path):
    leak = replace(rows()[1], id="leak", split="test")
    write_records(tmp_path / "c.jsonl", [*rows(), leak, replace(rows()[3], id="blank", label=None)], Example)
    cleaning = clean_dataset(tmp_path / "c.jsonl", tmp_path / "out")
    with (tmp_path / "out" / "removed.csv").open() as file:
        assert {row["id"]: row["reason"] for row in csv.DictReader(file)} == {
            "leak": "identical",
            "blank": "unlabelled",
        }
    kept = [
        e for name in ("train", "test") for e in read_records(tmp_path / "out" / "data" / f"{name}.parquet", Example)
    ]
    assert content_digest(kept) == cleaning.digest == read_manifest(tmp_path / "out").config["digest"]
    assert TEXTS[0] not in (tmp_path / "out" / "ids.csv").read_text()


def test_a_corpus_without_splits_gets_some(tmp_path):
    many = [
        Example(
            str(i), Turn("", f"remark number {i} about thing {i * i} and {i % 7}"), label=i % 2 == 0, group=f"g{i // 2}"
        )
        for i in range(60)
    ]
    write_records(tmp_path / "c.jsonl", many, Example)
    one, two = (clean_dataset(tmp_path / "c.jsonl", tmp_path / name, seed=3) for name in ("a", "b"))
    assert one.digest == two.digest
    groups = {}
    for example in one.examples:
        groups.setdefault(example.group, set()).add(example.split)
    assert all(len(splits) == 1 for splits in groups.values())
    assert {e.split for e in one.examples} == {"train", "dev", "test"}


def test_bad_input_is_one_line(tmp_path):
    with pytest.raises(DeadpanError, match="unknown reason 'authors'"):
        clean_examples(rows(), also=["authors"])
    with pytest.raises(DeadpanError, match="not unique"):
        clean_examples([rows()[0], rows()[0]])
    write_records(tmp_path / "c.jsonl", [replace(rows()[0], label=None)], Example)
    with pytest.raises(DeadpanError, match="nothing remains"):
        clean_dataset(tmp_path / "c.jsonl", tmp_path / "out")


def test_a_score_that_falls_when_copies_are_out_is_in_the_finding():
    high, low = Interval(0.96, 0.94, 0.98, 0.95, 90), Interval(0.32, 0.21, 0.43, 0.95, 90)
    fallen = SimpleNamespace(before={"bow": {"f1": high}}, after={"bow": {"f1": low}})
    text = " For bow, F1 falls from 0.960 [0.940, 0.980] to 0.320 [0.210, 0.430]."
    assert cleaning._fall(fallen) == text
    assert cleaning._fall(SimpleNamespace(before={"bow": {"f1": high}}, after={"bow": {"f1": high}})) == ""


def test_a_removal_that_removes_nothing_says_so() -> None:
    rows = [Example(str(at), Turn("", " ".join(f"{word}{at}" for word in ("tea", "rain", "bus", "cat"))), label=at % 2 == 0,
                    split="test" if at > 40 else "train", meta={"author": f"author{at % 5}"})
            for at in range(60)]  # fmt: skip
    removed = clean_examples(rows, also=["author"])
    assert removed.reasons["author"] == 19
    alone = [replace(row, meta={}) for row in rows]
    assert "removed nothing: no row has an author" in str(clean_examples(alone, also=["author"]))
    own = [replace(row, meta={"author": f"author{row.id}"}) for row in rows]
    assert "no author is in two splits" in str(clean_examples(own, also=["author"]))
