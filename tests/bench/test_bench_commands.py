"""The commands: what works, and what bad input gets: one line with the cure, exit 2, nothing overwritten."""

from __future__ import annotations

import json
import socket

import pytest

from bench_items import make_item, small_set
from deadpan.bench.items import write_items
from deadpan.fields import encode
from deadpan.locks import alone_in


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
    assert not (site / "items").exists(), "the items are not at hand"
    assert deadpan("bench", "site", runs, "--set", mine, "--out", site).status == 0
    assert (site / "items" / "i0-0.html").exists()
    fails(deadpan("bench", "site", runs, "--set", "public", "--out", site), "is not what", "name that one")
    assert (site / "items" / "i0-0.html").exists()
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
    monkeypatch.delenv("DEADPAN_BENCH_PASSPHRASE")
    fails(deadpan("bench", "open", sealed, "--out", tmp_path / "p.jsonl"), "set DEADPAN_BENCH_PASSPHRASE")


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
    for option, value, said in (
        ("--runs", 0, "needs 1 or more"), ("--temperature", -1, "needs 0 or more"), ("--top-p", 7, "a share"),
        ("--timeout", 0, "needs 0.1 or more"), ("--max-cost", -1, "needs 0 or more"), ("--limit", 0, "needs 1"),
    ):  # fmt: skip
        fails(deadpan(*run, "baseline/first", option, value), option, said)
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_server_that_is_not_there_leaves_an_incomplete_run_and_says_why(deadpan, mine, tmp_path):
    pytest.importorskip("inspect_ai")
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ran = deadpan("bench", "run", "--set", mine, "--model", "m", "--base-url", url, "--runs", 1,
                      "--limit", 2, "--retries", 0, "--out", tmp_path / "r")  # fmt: skip
    assert ran.status == 1, ran
    assert "2 of 2 rows have no answer (connection 2)" in ran.out
    fails(deadpan("bench", "site", tmp_path / "r", "--out", tmp_path / "s"), "incomplete")
    assert not (tmp_path / "s").exists()


def test_one_model_run_twice_is_told_apart_by_folder(deadpan, mine, tmp_path):
    for out in ("a", "b"):
        deadpan(
            "bench", "run", "--set", mine, "--model", "baseline/first", "--runs", 1, "--out", tmp_path / out
        )
    shown = deadpan("bench", "score", tmp_path / "a", tmp_path / "b").out.replace("\n", "")
    assert "a/baseline-first" in shown
    assert "b/baseline-first" in shown
    fails(deadpan("bench", "site", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "s"), "two runs of")


def test_the_table_people_watch():
    from io import StringIO

    from rich.console import Console

    from deadpan.bench.run import State
    from deadpan.cli.bench_live import states_table

    states = [
        State("openai/a", 100, done=50, resumed=30, retries=2, escalated=3, spent=0.5, state="running"),
        State("mine", 100, done=100, unpriced=True, state="done"),
    ]
    out = StringIO()
    Console(file=out, width=200).print(states_table(states, 10.0))
    running, done = out.getvalue().splitlines()[1:3]
    assert running.split() == ["openai/a", "running", "50/100", "2.0/s", "0:25", "2", "3", "0", "$0.5000"]
    assert done.split() == ["mine", "done", "100/100", "10.0/s", "0", "0", "0", "no", "price"]


def test_two_runs_in_one_folder_do_not_ask_twice(deadpan, mine, tmp_path):
    with alone_in(tmp_path / "r" / "baseline-first"):
        ran = deadpan(
            "bench", "run", "--set", mine, "--model", "baseline/first", "--runs", 1, "--out", tmp_path / "r"
        )
    fails(ran, "another run is at work there")
    assert not list((tmp_path / "r").rglob("*.jsonl"))
