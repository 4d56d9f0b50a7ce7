"""The commands: what works, and what bad input gets: one line with the cure, exit 2, nothing overwritten."""

from __future__ import annotations

import json

import pytest

from bench_items import make_item, small_set
from deadpan.bench.items import write_items
from deadpan.fields import encode


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "public-mine.jsonl"
    write_items(path, small_set(12).items)
    return path


def fails(ran, *words):
    assert ran.status == 2, ran
    assert ran.err.count("\n") == 1, ran.err
    for word in words:
        assert word in ran.err, ran.err


def test_a_whole_round(deadpan, mine, tmp_path):
    runs, site = tmp_path / "runs", tmp_path / "site"
    assert deadpan("bench", "validate", mine).status == 0
    ran = deadpan("bench", "run", "--set", mine, "--model", "baseline/random", "--model", "baseline/first",
                  "--runs", 2, "--out", runs)  # fmt: skip
    assert ran.status == 0, ran
    assert "Avg@2" in ran.out
    assert deadpan("bench", "score", runs, "--json").json[0]["complete"]
    assert "not different" in deadpan("bench", "compare", runs).out
    assert deadpan("bench", "rows", runs, "--out", tmp_path / "rows.parquet", "--json").json["rows"] == 96
    assert deadpan("bench", "site", runs, "--out", site).status == 0
    assert (site / "index.html").exists()
    assert deadpan("bench", "study", mine, "--out", tmp_path / "quiz").status == 0
    assert deadpan("bench", "export", mine, "--out", tmp_path / "export").status == 0


def test_seal_run_and_open(deadpan, mine, tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "correct horse")
    sealed = tmp_path / "private.sealed"
    assert deadpan("bench", "seal", mine, "--out", sealed).status == 0
    ran = deadpan(
        "bench", "run", "--set", sealed, "--model", "baseline/first", "--runs", 1, "--out", tmp_path / "r"
    )
    assert ran.status == 0, ran
    fails(deadpan("bench", "items", tmp_path / "r"), "never shown")
    fails(deadpan("bench", "export", sealed, "--out", tmp_path / "e"), "only public sets")
    assert deadpan("bench", "open", sealed, "--out", tmp_path / "o.jsonl").status == 0
    assert (tmp_path / "o.jsonl").read_bytes() == mine.read_bytes()
    fails(deadpan("bench", "open", sealed, "--out", mine), "is there already")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "wrong horse")
    fails(deadpan("bench", "open", sealed, "--out", tmp_path / "p.jsonl"), "wrong passphrase")
    assert not (tmp_path / "p.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"options": list("abcdefg")}, ("7 options", "exactly 6")),
        ({"category": "irony"}, ("unknown category",)),
        ({"answer": None}, ("not an item",)),
    ],
)
def test_bad_items(deadpan, tmp_path, change, words):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({**encode(make_item(0)), **change}) + "\n")
    fails(deadpan("bench", "validate", path), "bad.jsonl:1", *words)
    fails(
        deadpan("bench", "run", "--set", path, "--model", "baseline/first", "--out", tmp_path / "r"), *words
    )
    assert not (tmp_path / "r").exists()


def test_problems_of_a_readable_set_are_listed_and_exit_1(deadpan, tmp_path):
    write_items(tmp_path / "s.jsonl", [make_item(0), make_item(0, 1, utterance="Other.")])
    ran = deadpan("bench", "validate", tmp_path / "s.jsonl")
    assert ran.status == 1
    assert "utterances differ" in ran.out


def test_bad_models_and_options(deadpan, mine, tmp_path, monkeypatch):
    pytest.importorskip("inspect_ai")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    run = ("bench", "run", "--set", mine, "--out", tmp_path / "r", "--model")
    fails(deadpan(*run, "nosuch/model"), "nosuch", "provider/model")
    fails(deadpan(*run, "openai/gpt-5"), "OPENAI_API_KEY", "set what is missing")
    fails(deadpan(*run, "baseline/rand"), "baseline/random")
    fails(deadpan(*run, "x", "--base-url", "nowhere"), "not an address")
    fails(deadpan(*run, "baseline/first", "--runs", 0), "--runs needs 1 or more")
    fails(deadpan(*run, "baseline/first", "--set", "public@9.9.9"), "unknown set")
    assert not (tmp_path / "r").exists()


def test_a_log_of_another_set_version(deadpan, mine, tmp_path):
    other = tmp_path / "public-other.jsonl"
    write_items(other, small_set(5).items)
    for path, out in ((mine, "a"), (other, "b")):
        deadpan(
            "bench", "run", "--set", path, "--model", "baseline/first", "--runs", 1, "--out", tmp_path / out
        )
    fails(deadpan("bench", "compare", tmp_path / "a", tmp_path / "b"), "one set version")
    fails(
        deadpan("bench", "site", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "s"), "one set version"
    )
    ran = deadpan(
        "bench", "run", "--set", other, "--model", "baseline/first", "--runs", 1, "--out", tmp_path / "a"
    )
    fails(ran, "another set")
