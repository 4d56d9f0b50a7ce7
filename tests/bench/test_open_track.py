"""The open track from end to end: asked, judged, marked by people, all of it taken up again after a stop."""

from __future__ import annotations

import json
import sqlite3

import pytest

from bench_items import FAST, Scripted, job, small_set
from deadpan.bench import open_track
from deadpan.bench.open_track import EXPLANATIONS, OpenAnswer, run_open_track, score_open
from deadpan.bench.runs import run
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.errors import ConfigError, DataError
from deadpan.llm import CostLimit
from deadpan.llm.retries import Failed
from deadpan.storage import read_json, read_records

SET = small_set(3)
MODEL, JUDGE = "openai/gpt-4o", "openai/gpt-4o-mini"


def sentence(question, limit, before):
    """Right in the first run, another option in the second."""
    place = (question.item.answer + (question.run == 2)) % 6
    return GivenAnswer(question.item.options[place], "stop", "m", 100, 5)


def mark(question, limit, before):
    reference = question.item.options[question.item.answer]
    return GivenAnswer(
        f"Mark: {2 if f'Explanation to mark: {reference}' in question.prompt else 0}", "stop", "j", 100, 3
    )


@pytest.fixture
def asked(monkeypatch):
    """The models that are connected, by name; near and far told by equal words, without vectors."""
    models = {MODEL: Scripted(sentence), JUDGE: Scripted(mark)}
    monkeypatch.setattr(run, "connect", lambda settings, seed: models[settings.model])
    monkeypatch.setattr(run, "RunClock", lambda: FAST)

    def similar(items, texts):
        known = {item.id: item for item in items.items}
        places = {key: known[key[0]].options.index(text) for key, text in texts.items()}
        return [
            OpenAnswer(item, number, texts[item, number], 1.0, place, place == known[item].answer)
            for (item, number), place in places.items()
        ]

    monkeypatch.setattr(open_track, "mark_similarity", similar)
    return models


def explain_all(settings, out, **more):
    return run_open_track(MODEL, settings, out, judge=JUDGE, **more)


def answers(out):
    return list(read_records(out / "openai-gpt-4o" / EXPLANATIONS, OpenAnswer))


def test_three_markers_agree_on_what_was_said(asked, tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("item,run,right\n" + "".join(f"{item.id},1,yes\n" for item in SET.items))
    scores = explain_all(job(SET, runs=2), tmp_path, people=people)
    assert {name: value.value for name, value in scores.right.items()} == {
        "similarity": 0.5, "judge": 0.5, "people": 1.0,
    }  # fmt: skip
    assert scores.missing["people"] == 6
    assert scores.agreement["similarity and judge"]["agree"].value == 1.0
    written = tmp_path / "openai-gpt-4o"
    assert scores.out == written / EXPLANATIONS
    assert score_open(MODEL, SET, answers(tmp_path)).right == scores.right
    assert read_json(written / "manifest.json")["config"]["rubric"] == "rubric/1"


def test_the_words_of_the_rubric_are_kept_with_the_marks(asked, tmp_path):
    explain_all(job(SET, runs=1), tmp_path)
    plan = read_json(tmp_path / "judge" / "openai-gpt-4o" / "openai-gpt-4o-mini" / "run.json")
    assert "says what the reference says" in plan["prompt_texts"]["en"]
    assert plan["temperature"] == 0.0


def test_nothing_is_asked_twice(asked, tmp_path):
    first = explain_all(job(SET, runs=2), tmp_path)
    before = {name: len(model.asked) for name, model in asked.items()}
    assert explain_all(job(SET, runs=2), tmp_path) == first
    assert {name: len(model.asked) for name, model in asked.items()} == before == {MODEL: 12, JUDGE: 12}


def test_marks_of_other_sentences_are_not_gone_on_with(asked, tmp_path):
    explain_all(job(SET, runs=1), tmp_path)
    journal = tmp_path / "explain" / "openai-gpt-4o" / "calls.sqlite"
    with sqlite3.connect(journal) as db:
        text = json.dumps(SET.items[0].options[3])
        db.execute(
            "UPDATE entries SET record = json_set(record, '$.text', json(?)) WHERE id = (SELECT MIN(id) FROM entries WHERE final)",
            [text],
        )
    db.close()
    with pytest.raises(ConfigError, match="another prompt_texts"):
        explain_all(job(SET, runs=1), tmp_path)


def test_the_judge_spends_what_the_sentences_left(asked, tmp_path):
    asked[MODEL].answer, asked[JUDGE].answer = mark, sentence  # the judge is the dear one
    with pytest.raises(CostLimit):
        run_open_track(JUDGE, job(SET, runs=1, max_cost=0.001), tmp_path, judge=MODEL)
    assert (len(asked[JUDGE].asked), len(asked[MODEL].asked)) == (6, 0)
    assert run_open_track(JUDGE, job(SET, runs=1, max_cost=0.05), tmp_path, judge=MODEL).n == 6


def test_a_judge_without_a_price_is_refused_before_anything_is_asked(asked, tmp_path):
    with pytest.raises(ConfigError, match="no price is known for openai-api/mine/judge"):
        run_open_track(MODEL, job(SET, max_cost=1.0), tmp_path, judge="openai-api/mine/judge")
    assert asked[MODEL].asked == []


def test_a_missing_sentence_or_mark_stops_it_with_the_cure(asked, tmp_path):
    asked[MODEL].answer = lambda q, limit, n: Failed("http_500")
    with pytest.raises(DataError, match="explanations are missing: repeat the command"):
        explain_all(job(SET, runs=1, retries=0), tmp_path)
    asked[MODEL].answer = sentence
    asked[JUDGE].answer = lambda q, limit, n: Failed("http_500")
    with pytest.raises(DataError, match="marks are missing: repeat the command"):
        explain_all(job(SET, runs=1, retries=0), tmp_path)
    assert not (tmp_path / "openai-gpt-4o").exists()


def test_an_unreadable_mark_is_none(asked, tmp_path):
    asked[JUDGE].answer = lambda q, limit, n: GivenAnswer("Well, well.", "stop", "j", 1, 1)
    explain_all(job(SET, runs=1), tmp_path)
    assert {answer.judge for answer in answers(tmp_path)} == {None}


def test_a_baseline_cannot_explain(asked, tmp_path):
    with pytest.raises(ConfigError, match="only chooses letters"):
        run_open_track("baseline/random", job(SET), tmp_path)
    assert list(tmp_path.iterdir()) == []
