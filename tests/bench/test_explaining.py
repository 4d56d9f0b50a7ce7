"""The open track from end to end: asked, judged, marked by people, all of it taken up again after a stop."""

from __future__ import annotations

import json

import pytest

from bench_items import FAST, Scripted, job, small_set
from deadpan.bench import explaining, run
from deadpan.bench.asking import Reply
from deadpan.bench.explaining import EXPLANATIONS, explain
from deadpan.bench.open_track import Explanation, score_open
from deadpan.errors import ConfigError, DataError
from deadpan.llm import CostLimit
from deadpan.llm.retries import Failed
from deadpan.storage import read_json, read_records

SET = small_set(3)
MODEL, JUDGE = "openai/gpt-4o", "openai/gpt-4o-mini"


def sentence(question, limit, before):
    """Right in the first run, another option in the second."""
    place = (question.item.answer + (question.run == 2)) % 6
    return Reply(question.item.options[place], "stop", "m", 100, 5)


def mark(question, limit, before):
    reference = question.item.options[question.item.answer]
    return Reply(
        f"Mark: {2 if f'Explanation to mark: {reference}' in question.prompt else 0}", "stop", "j", 100, 3
    )


@pytest.fixture
def asked(monkeypatch):
    """The models that are connected, by name; near and far told by equal words, without vectors."""
    models = {MODEL: Scripted(sentence), JUDGE: Scripted(mark)}
    monkeypatch.setattr(run, "connect", lambda name, sampling: models[name])
    monkeypatch.setattr(run, "Clock", lambda: FAST)

    def similar(items, texts):
        known = {item.id: item for item in items.items}
        places = {key: known[key[0]].options.index(text) for key, text in texts.items()}
        return [
            Explanation(item, number, texts[item, number], 1.0, place, place == known[item].answer)
            for (item, number), place in places.items()
        ]

    monkeypatch.setattr(explaining, "mark_similarity", similar)
    return models


def test_three_markers_agree_on_what_was_said(asked, tmp_path):
    people = {(item.id, 1): True for item in SET.items}
    marked = explain(MODEL, JUDGE, job(SET, runs=2), tmp_path, people)
    scores = score_open(MODEL, SET, marked)
    assert {name: value.value for name, value in scores.right.items()} == {
        "similarity": 0.5, "judge": 0.5, "people": 1.0,
    }  # fmt: skip
    assert scores.missing["people"] == 6
    assert scores.agreement["similarity and judge"]["agree"].value == 1.0
    written = tmp_path / "openai-gpt-4o"
    assert list(read_records(written / EXPLANATIONS, Explanation)) == marked
    assert read_json(written / "manifest.json")["config"]["rubric"] == "rubric/1"


def test_the_words_of_the_rubric_are_kept_with_the_marks(asked, tmp_path):
    explain(MODEL, JUDGE, job(SET, runs=1), tmp_path)
    plan = read_json(tmp_path / "judge" / "openai-gpt-4o" / "openai-gpt-4o-mini" / "run.json")
    assert "says what the reference says" in plan["prompt_texts"]["en"]
    assert plan["temperature"] == 0.0


def test_nothing_is_asked_twice(asked, tmp_path):
    first = explain(MODEL, JUDGE, job(SET, runs=2), tmp_path)
    before = {name: len(model.asked) for name, model in asked.items()}
    assert explain(MODEL, JUDGE, job(SET, runs=2), tmp_path) == first
    assert {name: len(model.asked) for name, model in asked.items()} == before == {MODEL: 12, JUDGE: 12}


def test_marks_of_other_sentences_are_not_gone_on_with(asked, tmp_path):
    explain(MODEL, JUDGE, job(SET, runs=1), tmp_path)
    journal = tmp_path / "explain" / "openai-gpt-4o" / "calls.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0]["text"] = SET.items[0].options[3]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ConfigError, match="another prompt_texts"):
        explain(MODEL, JUDGE, job(SET, runs=1), tmp_path)


def test_the_judge_spends_what_the_sentences_left(asked, tmp_path):
    paid = 6 * (100 * 2.5 + 5 * 10) / 1e6
    with pytest.raises(CostLimit):
        explain(MODEL, JUDGE, job(SET, runs=1, max_cost=0.99 * paid), tmp_path)
    assert (len(asked[MODEL].asked), len(asked[JUDGE].asked)) == (6, 0)
    assert len(explain(MODEL, JUDGE, job(SET, runs=1, max_cost=2 * paid), tmp_path)) == 6


def test_a_missing_sentence_or_mark_stops_it_with_the_cure(asked, tmp_path):
    asked[MODEL].answer = lambda q, limit, n: Failed("http_500")
    with pytest.raises(DataError, match="explanations are missing; run the same command"):
        explain(MODEL, JUDGE, job(SET, runs=1, retries=0), tmp_path)
    asked[MODEL].answer = sentence
    asked[JUDGE].answer = lambda q, limit, n: Failed("http_500")
    with pytest.raises(DataError, match="marks are missing; run the same command"):
        explain(MODEL, JUDGE, job(SET, runs=1, retries=0), tmp_path)
    assert not (tmp_path / "openai-gpt-4o").exists()


def test_an_unreadable_mark_is_none(asked, tmp_path):
    asked[JUDGE].answer = lambda q, limit, n: Reply("Well, well.", "stop", "j", 1, 1)
    assert {each.judge for each in explain(MODEL, JUDGE, job(SET, runs=1), tmp_path)} == {None}


def test_a_baseline_cannot_explain(asked, tmp_path):
    with pytest.raises(ConfigError, match="only chooses letters"):
        explain("baseline/random", "", job(SET), tmp_path)
    assert list(tmp_path.iterdir()) == []
