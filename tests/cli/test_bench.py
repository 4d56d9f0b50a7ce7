"""The commands: what works, and what bad input gets: one line with the cure, exit 2, nothing overwritten."""

from __future__ import annotations

import json
import socket

import pytest

from bench_items import make_item, small_set
from deadpan import Detector
from deadpan.bench.items.item import write_items
from deadpan.records import Example, Turn
from deadpan.storage import lock_folder, read_records, write_records
from deadpan.validation import encode


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
    assert deadpan("bench", "check", mine, "--no-audit").status == 0
    ran = deadpan("bench", "run", "--set", mine, "--llm", "baseline/random", "--llm", "baseline/first",
                  "--runs", 2, "--out", runs)  # fmt: skip
    assert ran.status == 0, ran
    assert "Avg@2" in ran.out
    assert all(each["complete"] for each in deadpan("bench", "score", runs, "--json").json["scores"])
    assert "t test over clusters" in deadpan("bench", "score", runs).out
    assert deadpan("bench", "export", runs, "--out", tmp_path / "rows.parquet", "--json").json["rows"] == 96
    assert deadpan("bench", "site", runs, "--out", site).status == 0
    assert not (site / "items").exists(), "the items are not at hand"
    assert deadpan("bench", "site", runs, "--set", mine, "--out", site).status == 0
    assert (site / "items" / "i0-0.html").exists()
    fails(deadpan("bench", "site", runs, "--set", "public", "--out", site), "is not what", "give that one")
    assert (site / "items" / "i0-0.html").exists()
    assert deadpan("bench", "people", "study", mine, "--out", tmp_path / "quiz").status == 0
    assert deadpan("bench", "export", mine, "--out", tmp_path / "export").status == 0


def test_seal_run_and_open(deadpan, mine, tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "correct horse")
    sealed = tmp_path / "private.sealed"
    assert deadpan("bench", "private", "seal", mine, "--out", sealed).status == 0
    ran = deadpan("bench", "run", "--set", sealed, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path / "r")
    assert ran.status == 0, ran
    fails(deadpan("bench", "score", tmp_path / "r", "--items"), "never shown")
    fails(deadpan("bench", "export", sealed, "--out", tmp_path / "e"), "only public sets")
    assert deadpan("bench", "private", "open", sealed, "--out", tmp_path / "o.jsonl").status == 0
    assert (tmp_path / "o.jsonl").read_bytes() == mine.read_bytes()
    fails(deadpan("bench", "private", "open", sealed, "--out", mine), "already exists")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "wrong horse")
    fails(deadpan("bench", "private", "open", sealed, "--out", tmp_path / "p.jsonl"), "wrong passphrase")
    assert not (tmp_path / "p.jsonl").exists()
    monkeypatch.delenv("DEADPAN_BENCH_PASSPHRASE")
    fails(deadpan("bench", "private", "open", sealed, "--out", tmp_path / "p.jsonl"), "set DEADPAN_BENCH_PASSPHRASE")


def test_bad_submissions_get_one_line(deadpan, mine, tmp_path):
    run = ("bench", "run", "--set", mine, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path)
    assert deadpan(*run).status == 0
    sent = tmp_path / "baseline-first"
    check = ("bench", "check", mine, "--submission", sent)
    assert deadpan(*check).status == 0
    fails(deadpan("bench", "check", "--submission", sent), "name its set")
    rows = (sent / "rows.jsonl").read_text()
    (sent / "rows.jsonl").write_text(rows.replace('"answer": "A"', '"answer": "B"', 1))
    fails(deadpan(*check), "its key is B, the set's A")
    (sent / "rows.jsonl").write_text("".join(rows.splitlines(True)[:-2]))
    fails(deadpan(*check), "2 rows are missing")


def test_a_private_set_without_its_key_and_a_rotation(deadpan, mine, tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "correct horse")
    sealed, public = tmp_path / "private.sealed", tmp_path / "public-0.9.0.jsonl"
    assert deadpan("bench", "private", "seal", mine, "--out", sealed).status == 0
    retire = ("bench", "private", "retire", sealed, "--version", "0.9.0", "--out", public)
    fails(deadpan(*retire, "--next", sealed, tmp_path / "next.sealed"), "is in both sets")
    monkeypatch.delenv("DEADPAN_BENCH_PASSPHRASE")
    for words in (("run", "--set", sealed, "--llm", "baseline/first"), retire[1:]):
        fails(deadpan("bench", *words), "set DEADPAN_BENCH_PASSPHRASE")
    monkeypatch.setenv("DEADPAN_BENCH_PASSPHRASE", "correct horse")
    assert deadpan(*retire, "--json").json["set"] == "public@0.9.0"
    assert deadpan("bench", "check", public, "--no-audit").status == 0
    fails(deadpan(*retire), "already exists")


def test_the_board_is_never_empty(deadpan):
    found = {each["model"] for each in deadpan("bench", "score", "--json").json["scores"]}
    assert {"baseline/random", "baseline/longest"} <= found


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
    fails(deadpan("bench", "check", path), "bad.jsonl:1", *words)
    fails(deadpan("bench", "run", "--set", path, "--llm", "baseline/first", "--out", tmp_path / "r"), *words)
    assert not (tmp_path / "r").exists()


def test_problems_of_a_readable_set_are_listed_and_exit_1(deadpan, tmp_path):
    write_items(tmp_path / "s.jsonl", [make_item(0), make_item(0, 1, utterance="Other.")])
    ran = deadpan("bench", "check", tmp_path / "s.jsonl")
    assert ran.status == 1
    assert "utterances differ" in ran.out


def test_bad_models_and_options(deadpan, mine, tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    run = ("bench", "run", "--set", mine, "--out", tmp_path / "r", "--llm")
    fails(deadpan(*run, "nosuch/model"), "nosuch", "its provider is not known")
    fails(deadpan(*run, "openai/gpt-5"), "set OPENAI_API_KEY")
    fails(deadpan(*run, "baseline/rand"), "baseline/random")
    fails(deadpan(*run, "x", "--base-url", "nowhere"), "not the address of a server")
    for option, value, message in (
        ("--runs", 0, "runs must be a whole number of at least 1"), ("--temperature", -1, "temperature is -1.0: give a number from 0 to 2"),
        ("--top-p", 7, "top_p is 7.0: give a number"), ("--timeout", 0, "timeout is 0.0: give a number"),
        ("--max-cost", -1, "-1.0 is not in the range x>=0"),
    ):  # fmt: skip
        fails(deadpan(*run, "baseline/first", option, value), message)
    assert deadpan(*run, "baseline/first", "--limit", 0).status == 2
    fails(deadpan(*run, "baseline/first", "--limit", 2, "--sample", 2), "exclude each other")
    fails(deadpan(*run, "openai-api/mine/m", "--max-cost", 1), "no price is known", "--price openai-api/mine/m IN OUT")
    fails(deadpan(*run, "baseline/first", "--set", "public@9.9.9"), "unknown set")
    assert not (tmp_path / "r").exists()


def test_a_log_of_another_set_version(deadpan, mine, tmp_path):
    other = tmp_path / "public-other.jsonl"
    write_items(other, small_set(5).items)
    for path, out in ((mine, "a"), (other, "b")):
        deadpan("bench", "run", "--set", path, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path / out)
    fails(deadpan("bench", "score", tmp_path / "a", tmp_path / "b"), "one set version")
    fails(deadpan("bench", "site", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "s"), "one set version")
    ran = deadpan("bench", "run", "--set", other, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path / "a")
    fails(ran, "another set")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_server_that_is_not_there_leaves_an_incomplete_run_and_says_why(deadpan, mine, tmp_path):
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ran = deadpan("bench", "run", "--set", mine, "--llm", "m", "--base-url", url, "--runs", 1,
                      "--limit", 2, "--retries", 0, "--out", tmp_path / "r")  # fmt: skip
    fails(ran, f"nothing listens at {url}")
    fails(deadpan("bench", "site", tmp_path / "r", "--out", tmp_path / "s"), "incomplete")
    assert not (tmp_path / "s").exists()


def test_scores_fit_80_columns_and_name_every_model(deadpan, mine, tmp_path):
    names = ("baseline/random", "baseline/first", "baseline/longest")
    models = [word for name in names for word in ("--llm", name)]
    ran = deadpan("bench", "run", "--set", mine, *models, "--runs", 2, "--out", tmp_path / "runs")
    for shown in (ran.out, deadpan("bench", "score", tmp_path / "runs").out):
        assert max(map(len, shown.splitlines())) <= 80
        for name in names:
            assert sum(line.startswith(name) for line in shown.splitlines()) >= 3, shown
    compared = deadpan("bench", "score", tmp_path / "runs").out
    assert "baseline/first - baseline/longest" in compared
    assert max(map(len, compared.splitlines())) <= 80


def test_one_model_run_twice_is_told_apart_by_folder(deadpan, mine, tmp_path):
    for out in ("a", "b"):
        deadpan("bench", "run", "--set", mine, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path / out)
    shown = deadpan("bench", "score", tmp_path / "a", tmp_path / "b").out.replace("\n", "")
    assert "a/baseline-first" in shown
    assert "b/baseline-first" in shown
    fails(deadpan("bench", "site", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "s"), "two runs of")


@pytest.mark.parametrize("width", [80, 200])
def test_the_table_to_watch_fits_a_terminal(width):
    from deadpan.bench.runs.run import RunState, state_table
    from deadpan.page.summary import render_text

    states = [
        RunState("openai/a", 100, done=50, resumed=30, retries=2, escalated=3, spent=0.5, state="running"),
        RunState("mine", 100, done=100, unpriced=True, state="done"),
    ]
    running, done = render_text(state_table(states, 10.0), width).splitlines()[1:3]
    assert running.split() == ["openai/a", "running", "50/100", "2.0/s", "0:25", "2", "0", "$0.5000"]
    assert done.split() == ["mine", "done", "100/100", "10.0/s", "-", "0", "0", "no", "price"]


def test_two_runs_in_one_folder_do_not_ask_twice(deadpan, mine, tmp_path):
    with lock_folder(tmp_path / "r" / "baseline-first"):
        ran = deadpan("bench", "run", "--set", mine, "--llm", "baseline/first", "--runs", 1, "--out", tmp_path / "r")
    fails(ran, "another run is using this folder")
    assert not list((tmp_path / "r").rglob("*.jsonl"))


def replies(path, n=40, words="the council votes on road number"):
    """Write pairs of replies, one of them sarcastic."""
    rows = []
    for i in range(n):
        said = {"context": (Turn("", f"{words} {i}"),), "sequence": f"s{i}"}
        rows += [
            Example(f"y{i}", Turn("", f"oh splendid, yet another {words} {i}"), label=True, **said),
            Example(
                f"n{i}",
                Turn("", f"{words} {'took quite some years to build' if i % 2 else 'is closed'} {i}"),
                label=False,
                **said,
            ),
        ]
    write_records(path, rows, Example)
    return path


def test_organic_finds_who_knows_and_who_guesses(deadpan, tmp_path):
    Detector("bow").fit(list(read_records(replies(tmp_path / "q.jsonl", words="one road"), Example))).save(
        tmp_path / "bow"
    )
    made = deadpan("bench", "organic", replies(tmp_path / "p.jsonl"), "--options", 2,
                   "--out", tmp_path / "set.jsonl", "--json")  # fmt: skip
    assert made.json["chance"] == 0.5
    ran = deadpan("bench", "run", "--set", tmp_path / "set.jsonl", "--detector", tmp_path / "bow",
                  "--llm", "baseline/random", "--runs", 1, "--out", tmp_path / "runs", "--json")  # fmt: skip
    scores = {one["model"]: one for one in ran.json["runs"]}
    assert scores["baseline/detector-bow"]["avg"]["low"] > 0.8
    assert scores["baseline/random"]["avg"]["low"] < 0.5 < scores["baseline/random"]["avg"]["high"]
    fill = ("bench", "organic", tmp_path / "p.jsonl", "--ids", tmp_path / "set.ids.csv")
    filled = deadpan(*fill, "--out", tmp_path / "again.jsonl", "--json")
    assert filled.json["hash"] == made.json["hash"]
    fails(deadpan(*fill, "--out", tmp_path / "more.jsonl", "--options", 3), "--options: no effect with --ids")


def test_bad_organic_tracks_are_one_line(deadpan, tmp_path):
    (tmp_path / "few.csv").write_text("text,label\noh sure,1\nit rains,0\n")
    make = ("bench", "organic", "--out", tmp_path / "set.jsonl")
    fails(deadpan(*make, tmp_path / "few.csv"), "no sequences in it")
    fails(deadpan(*make, tmp_path / "nowhere.csv"), "nowhere.csv")
    fails(deadpan(*make, tmp_path), "not a finished corpus")
    fails(deadpan(*make, replies(tmp_path / "p.jsonl"), "--limit", 0), "--limit")
    fails(deadpan(*make, replies(tmp_path / "p.jsonl")), "give fewer --options")
