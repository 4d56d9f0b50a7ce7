"""One set of outcomes through every command that compares: one p value, one interval, one verdict."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench_rows import make_rows, make_run
from deadpan.bench.runs.folder import begin, finish
from deadpan.formats.predictions import read_predictions
from deadpan.records import Example, Turn
from deadpan.storage import write_records

WORDS = ("great", "sure", "wow", "thanks", "brilliant")
SEEN = ("p", "p_holm", "difference", "verdict", "significant", "n_clusters", "n_differing", "detectable", "needed")


def corpus(path, group_size):
    """Two hundred texts in groups; most, but not all, of the sarcastic ones have a cue."""
    rows = [
        Example(
            f"e{at}", Turn("", f"{WORDS[at % 5]} text {at} {at * 7919} {at * 104729}{' obviously' if (at % 2) ^ (at % 7 == 0) else ''}"),
            label=at % 2 == 1, group=f"g{at // group_size}",
        )
        for at in range(200)
    ]  # fmt: skip
    write_records(path, rows, Example)
    return rows


@pytest.mark.parametrize("group_size", [1, 5, 10])
def test_every_command_gives_the_same_answer(deadpan, tmp_path, group_size):
    rows = corpus(tmp_path / "gold.jsonl", group_size)
    ran = deadpan("detect", "compare", tmp_path / "gold.jsonl", "--systems", "bow,random", "--metric", "accuracy",
                  "--folds", "3", "--out", tmp_path / "out", "--json")  # fmt: skip
    (trained,) = ran.json["comparisons"]
    names = [trained["first"], trained["second"]]
    answers = {}
    for name in names:
        found = next((tmp_path / "out").rglob(f"*{name}*.jsonl"))
        said = {row.example_id: row for row in read_predictions(found)}
        answers[name] = [said[example.id] for example in rows]
        write_records(tmp_path / f"{name}.jsonl", answers[name], type(answers[name][0]))
    right = {name: [a.label == e.label for a, e in zip(answers[name], rows, strict=True)] for name in names}

    for seed in (0, 1):
        (scored,) = deadpan("score", tmp_path / "gold.jsonl", *(tmp_path / f"{name}.jsonl" for name in names),
                            "--metric", "accuracy", "--seed", seed, "--json").json["comparisons"]  # fmt: skip
        assert {key: scored[key] for key in SEEN} == {key: trained[key] for key in SEEN}

    table = ["item,system,correct,cluster"]
    table += [f"{e.id},{name},{int(ok)},{e.group}" for name in names for e, ok in zip(rows, right[name], strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(table) + "\n")
    (logged,) = deadpan("compare", tmp_path / "table.csv", "--json").json["comparisons"]

    for name in names:
        letters = {e.id: "A" if ok else "B" for e, ok in zip(rows, right[name], strict=True)}
        families = {e.id: e.group for e in rows}
        asked = [replace(row, family=families[row.item], model=name) for row in make_rows(letters)]
        run = make_run(asked, name)
        begin(tmp_path / "runs" / name, run.plan)
        assert finish(tmp_path / "runs" / name, run.plan, run.rows)
    (benched,) = deadpan("bench", "score", tmp_path / "runs", "--json").json["comparisons"]
    (as_log,) = deadpan("compare", tmp_path / "runs", "--json").json["comparisons"]

    wanted = {key: trained[key] for key in SEEN}
    for found in (logged, as_log, benched):
        assert {
            key: pytest.approx(found[key]) if isinstance(found[key], float) else found[key] for key in SEEN
        } == wanted
    assert trained["verdict"] == "bow is better"
    shown = deadpan("compare", tmp_path / "table.csv").out
    assert json.dumps(trained["p"]) not in shown and "0.000" not in shown and "< 0.001" in shown
