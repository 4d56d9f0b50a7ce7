"""Plans and sources, and the one line with the hint that a bad one gets."""

from __future__ import annotations

import json

import pytest

from deadpan.generate.folder import GenerationFolder
from deadpan.generate.plan import open_plan


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
def test_a_bad_plan_is_one_line_with_the_hint(deadpan, plan_of, server, change, said):
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


def test_a_plan_with_prompts_to_change(deadpan, tmp_path):
    listed = deadpan("generate", "plan", "--list-prompts", "--json")
    assert listed.status == 0 and listed.json["ko"]["name"] == "Korean"
    done = deadpan("generate", "plan", tmp_path / "p.toml", "chats/", "--language", "fr", "--llm", "m",
                   "--base-url", "http://x/v1", "--copy-prompts", tmp_path / "french")  # fmt: skip
    assert done.status == 0, done.err
    text = (tmp_path / "p.toml").read_text("utf-8")
    assert 'path = "chats/"' in text and 'base_url = "http://x/v1"' in text and 'prompts = "french"' in text
    assert open_plan(tmp_path / "p.toml").open_language().folder == tmp_path / "french"
    again = deadpan("generate", "plan", tmp_path / "q.toml", "--copy-prompts", tmp_path / "french")
    assert again.status == 2 and "does not exist yet" in again.err
    assert deadpan("generate", "plan").status == 2


def test_usage_errors_are_one_line(deadpan, plan_of, tmp_path):
    missing = deadpan("generate", "release", plan_of(2))
    assert missing.status == 2 and "--out" in missing.err and missing.err.count("\n") == 1
    neither = deadpan("generate", "people", plan_of(2))
    assert neither.status == 2 and "either --study FOLDER" in neither.err and neither.err.count("\n") == 1


def test_status_while_a_run_is_at_work(deadpan, plan_of, tmp_path):
    plan = plan_of(3)
    assert deadpan("generate", "run", plan, "--only", "source").status == 0
    with GenerationFolder(tmp_path / "run").lock():
        done = deadpan("generate", "run", plan, "--status", "--json")
    assert done.status == 0 and done.json["waiting"][0] == "situation" and done.json["kept"] == 3
