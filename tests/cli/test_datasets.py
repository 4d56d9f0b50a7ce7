"""deadpan datasets, on the starter set and on small files."""

from __future__ import annotations

import pytest

from deadpan.datasets import read_dataset
from deadpan.records import Example
from deadpan.storage import read_manifest, read_records


def test_list_names_every_corpus(deadpan):
    names = {row["name"] for row in deadpan("datasets", "list", "--json").json}
    assert {"sarc-main", "kocosa", "isarcasm_eval-en", "table"} <= names
    assert "kocosa" in deadpan("datasets", "list").out


def test_show_is_readable_and_seeded(deadpan):
    first = deadpan("datasets", "show", "starter-en", "-n", 2, "--seed", 5)
    assert first.out.count("▸") == 2
    assert "sarcastic" in first.out or "sincere" in first.out
    assert deadpan("datasets", "show", "starter-en", "-n", 2, "--seed", 5).out == first.out
    assert deadpan("datasets", "show", "starter-en", "-n", 2, "--seed", 6).out != first.out


def test_show_one_label_only(deadpan):
    rows = deadpan("datasets", "show", "starter-ko", "-n", 5, "--label", "sarcastic", "--json").json
    assert [row["label"] for row in rows] == [True] * 5


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_convert_gives_the_same_examples(deadpan, tmp_path, name):
    out = tmp_path / name
    assert deadpan("datasets", "convert", "starter-ko", "--out", out).status == 0
    assert list(read_records(out, Example)) == read_dataset("starter-ko").examples
    assert read_manifest(out).counts == {"examples": 144}
    again = tmp_path / f"again-{name}"
    deadpan("datasets", "convert", out, "--out", again)
    assert list(read_records(again, Example)) == read_dataset("starter-ko").examples


def test_markers_are_stripped_and_counted_unless_kept(deadpan, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("text,label\nSo fun #sarcasm,1\nIt rains,0\n")
    assert deadpan("datasets", "convert", table, "--out", tmp_path / "a.jsonl", "--json").json["changes"] == {
        "markers_stripped": 1,
        "responses_with_marker": 1,
    }
    texts = [e.response.text for e in read_records(tmp_path / "a.jsonl", Example)]
    assert texts == ["So fun", "It rains"]
    deadpan("datasets", "convert", table, "--out", tmp_path / "b.jsonl", "--keep-markers")
    assert next(read_records(tmp_path / "b.jsonl", Example)).response.text == "So fun #sarcasm"


def test_a_bad_corpus_leaves_no_output(deadpan, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"text,label\nfine,1\n\xff\xfe broken,0\n")
    ran = deadpan("datasets", "convert", bad, "--out", tmp_path / "out.parquet")
    assert ran.status == 2
    assert "bad.csv:3" in ran.err
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"]


def test_stats_prints_the_comparison_row(deadpan):
    ran = deadpan("datasets", "stats", "starter-en", "starter-ko")
    assert "starter-en" in ran.out
    assert "340" in ran.out
    assert "680" in ran.out
    assert deadpan("datasets", "stats", "starter-en", "--json").json["starter-en"]["n"] == 680


def test_split_keeps_pairs_together(deadpan, tmp_path):
    ran = deadpan("datasets", "split", "starter-en", "--out", tmp_path / "p", "--sizes", "8:1:1", "--json")
    parts = {
        n: list(read_records(tmp_path / "p" / f"{n}.parquet", Example)) for n in ("train", "dev", "test")
    }
    assert {n: len(part) for n, part in parts.items()} == ran.json["counts"]
    where = {}
    for name, part in parts.items():
        for example in part:
            assert where.setdefault(example.sequence, name) == name
    assert read_manifest(tmp_path / "p").seed == 0


def test_leaks_finds_a_planted_copy(deadpan, tmp_path):
    rows = ["text,label,split"]
    rows += [f"a rather long sentence about thing number {n} in the garden,{n % 2},train" for n in range(30)]
    rows += ["a rather long sentence about thing number 3 in the garden,1,test"]
    rows += [f"another remark of some length on subject {n} at the office,{n % 2},test" for n in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    ran = deadpan("datasets", "leaks", tmp_path / "t.csv")
    assert ran.status == 0
    assert "1 of 31" in ran.out
