"""Bad plans and sources: one line with the cure, exit 2."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("[source]", "sead = 1\n[source]"), "did you mean 'seed'"),
        (lambda t: t.replace("price", "prise"), "did you mean 'price'"),
        (lambda t: t.replace("sources.jsonl", "absent.jsonl"), "no such file"),
        (lambda t: t.replace('language = "en"', 'language = "xx"'), "unknown language 'xx'"),
        (lambda t: t + "\n[dialogue]\nconcurrency = 3", "under [model]"),
        (lambda t: t + "\n[dialogue]\ntries = 0", "dialogue.tries"),
        (lambda t: t.replace("[source]", "[source]\nmax_turns = 1"), "max_turns needs 2"),
        (lambda t: t.replace("[model]", '[model]\nkey_env = "NO_SUCH_KEY"'), "set NO_SUCH_KEY"),
        (lambda t: t.replace("[source]", '[source]\nform = "nikl"'), "not JSON"),
        (lambda t: "nonsense", "not TOML"),
    ],
)
def test_a_bad_plan_is_one_line_with_the_cure(deadpan, plan_of, server, change, said):
    path = plan_of(3)
    path.write_text(change(path.read_text()))
    done = deadpan("generate", "run", path)
    assert done.status == 2 and said in done.err
    assert done.err.count("\n") == 1
    assert server.asked == []


def test_only_three_person_dialogues(deadpan, plan_of, tmp_path):
    path = plan_of(1)
    row = {"dialogue": [["x", "a"], ["y", "b"], ["z", "c"]]}
    (tmp_path / "sources.jsonl").write_text("\n".join([json.dumps(row)] * 3))
    done = deadpan("generate", "run", path)
    assert done.status == 2 and "three_or_more_speakers 3" in done.err


def test_max_cost_needs_a_price(deadpan, plan_of):
    path = plan_of(2)
    path.write_text(path.read_text().replace("price = [1.0, 2.0]", ""))
    done = deadpan("generate", "run", path, "--max-cost", "1")
    assert done.status == 2 and "price of writer-1 is not known" in done.err
