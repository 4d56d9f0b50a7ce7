"""deadpan datasets, on the starter set and on small files."""

from __future__ import annotations

import random

import pytest

from deadpan.datasets import read_dataset
from deadpan.records import Example, Turn
from deadpan.storage import read_manifest, read_records, write_records


def test_list_names_every_corpus(deadpan):
    names = {row["name"] for row in deadpan("datasets", "list", "--json").json}
    assert {"sarc-main", "kocosa", "isarcasm_eval-en", "table"} <= names
    assert "kocosa" in deadpan("datasets", "list").out


def test_show_is_readable_and_seeded(deadpan):
    first = deadpan("datasets", "show", "starter-en", "--sample", 2, "--seed", 5)
    assert first.out.count("▸") == 2
    assert "sarcastic" in first.out or "sincere" in first.out
    assert deadpan("datasets", "show", "starter-en", "--sample", 2, "--seed", 5).out == first.out
    assert deadpan("datasets", "show", "starter-en", "--sample", 2, "--seed", 6).out != first.out


def test_show_one_label_only(deadpan):
    rows = deadpan("datasets", "show", "starter-ko", "--sample", 5, "--label", "sarcastic", "--json").json
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
    parts = {n: list(read_records(tmp_path / "p" / f"{n}.parquet", Example)) for n in ("train", "dev", "test")}
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


def test_a_label_that_is_neither_is_dropped_and_shown(deadpan, tmp_path):
    (tmp_path / "t.csv").write_text("tweet,sarcastic\nOh great,yes\nRain,no\nHm,maybe\n")
    ran = deadpan("datasets", "stats", tmp_path / "t.csv", "--column", "text=tweet", "--positive", "yes")
    assert ran.status == 0
    assert "label_unknown.maybe 1" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def toned(n: int, *, mark: bool, copies: int = 1) -> list[Example]:
    """Texts of random words; with `mark` sarcastic ones end in "!", each text `copies` times."""
    rng = random.Random(3)
    rows = []
    for i in range(n):
        words = " ".join(f"w{rng.randrange(90)}" for _ in range(8))
        label = rng.random() < 0.5
        text = f"{words} {i}{'!' if mark and label else '.'}"
        rows += [Example(f"{i}-{k}", Turn("", text), label=label) for k in range(copies)]
    return rows


@pytest.mark.slow
def test_audit_finds_a_planted_shortcut_and_none_where_there_is_none(deadpan, tmp_path):
    found = {}
    for mark in (True, False):
        write_records(tmp_path / "made.jsonl", toned(160, mark=mark), Example)
        audit = deadpan("datasets", "audit", tmp_path / "made.jsonl", "--json").json["corpora"][0]
        found[mark] = {one["family"]: one["auc"]["value"] for one in audit["shortcuts"]["families"]}
        assert not audit["shortcuts"]["scores"]
    assert found[True]["punctuation"] > 0.9
    assert found[False]["punctuation"] < 0.65


@pytest.mark.slow
def test_an_atlas_with_rescored_systems(deadpan, tmp_path):
    write_records(tmp_path / "copies.jsonl", toned(120, mark=True, copies=3), Example)
    out = tmp_path / "atlas"
    ran = deadpan("datasets", "audit", tmp_path / "copies.jsonl", "--rescore", "bow", "--out", out, "--json")
    [again] = ran.json["rescored"].values()
    assert again["removed"] == 240
    assert again["systems"]["bow"]["auc"]["after"]["value"] > 0.95
    assert again["explained"]["bow"]["value"] > 0.9
    assert "Rescored on cleaned splits" in (out / "index.html").read_text()
    assert (out / "explained.svg").exists()


def test_a_corpus_that_cannot_be_rescored_says_why(deadpan, tmp_path):
    same = [Example(str(i), Turn("", "the same words"), label=i % 2 == 0) for i in range(60)]
    write_records(tmp_path / "same.jsonl", same, Example)
    ran = deadpan("datasets", "audit", tmp_path / "same.jsonl", "--rescore", "bow", "--out", tmp_path / "a")
    assert ran.status == 0
    assert "is not rescored:" in ran.out
    assert "is not rescored:" in (tmp_path / "a" / "index.html").read_text()


def test_clean_names_what_it_removed_and_rescores(deadpan, tmp_path):
    write_records(tmp_path / "copies.jsonl", toned(100, mark=False, copies=2), Example)
    clean = deadpan("datasets", "clean", tmp_path / "copies.jsonl", "--out", tmp_path / "c", "--json").json
    assert (clean["remain"], clean["reasons"]) == (100, {"identical": 100})
    assert (tmp_path / "c" / "removed.csv").read_text().count("\n") == 101
    write_records(tmp_path / "whole.jsonl", toned(100, mark=False), Example)
    none = deadpan("datasets", "clean", tmp_path / "whole.jsonl", "--out", tmp_path / "w", "--json").json
    assert (none["removed"], none["reasons"]) == (0, {})
    again = deadpan("datasets", "clean", tmp_path / "copies.jsonl", "--out", tmp_path / "r", "--rescore", "bow",
                    "--json").json  # fmt: skip
    assert again["reasons"] == {"identical": 100}
    assert (tmp_path / "r" / "rescored.json").is_file()
    auc = again["rescored"]["systems"]["bow"]["auc"]
    assert auc["before"]["value"] > 0.8 > auc["after"]["value"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["audit", "nowhere"], "nowhere"),
        (["audit", "TEXT", "--rescore", "bwo"], "did you mean 'bow'"),
        (["audit", "EMPTY"], "empty"),
        (["audit", "starter-en", "starter-en"], "named twice"),
        (["clean", "starter-en", "--out", "x", "--remove", "luck"], "unknown reason"),
        (["clean", "TEXT", "--out", "x", "--rescore", "bow"], "no examples left for test"),
        (["clean", "starter-en"], "--out"),
    ],
)
def test_bad_audits_are_one_line(deadpan, tmp_path, monkeypatch, arguments, hint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "few.csv").write_text("text,label\noh sure,1\nit rains,0\n")
    names = {"EMPTY": "empty.csv", "TEXT": "few.csv"}
    ran = deadpan("datasets", *[names.get(word, word) for word in arguments])
    assert ran.status == 2
    assert hint in ran.err
    assert ran.err.count("\n") == 1
