"""The split by language: scores and ranks on the items of one language alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench_items import judged, make_item, right, run_scripted, says
from deadpan.bench.items.sets import make_set
from deadpan.bench.people import write_human_run
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.scores.report import score_bench
from deadpan.bench.scores.score import in_language
from deadpan.bench.site.board import make_board, why_not
from deadpan.bench.site.write import write_site
from deadpan.drops import Tally
from deadpan.errors import DeadpanError

ITEMS = [
    replace(make_item(number, twin), language="ko" if number >= 10 else "en") for number in range(20) for twin in (0, 1)
]
SET = make_set("public", "public", ITEMS)


def only(*languages):
    """A model that knows these languages."""
    return lambda q, limit, n: right(q) if q.item.language in languages else says((q.item.answer + 1) % 6, q)


@pytest.fixture
def folder(tmp_path):
    run_scripted(tmp_path / "runs", "openai/both", only("en", "ko"), SET, runs=1)
    run_scripted(tmp_path / "runs", "openai/english", only("en"), SET, runs=1)
    return tmp_path / "runs"


def test_scores_are_split_and_can_be_of_one_language(folder):
    text = str(score_bench(folder))
    assert "Accuracy by language" in text
    assert "Korean" in text
    whole = {each.model: each for each in score_bench(folder).scores}
    assert whole["openai/english"].languages["ko"].value == 0.0
    korean = {each.model: each for each in score_bench(folder, language="ko").scores}
    assert korean["openai/english"].avg.value == 0.0
    assert (korean["openai/both"].avg.value, korean["openai/both"].n) == (1.0, 20)
    assert korean["openai/both"].pairs.n == 10
    assert korean["openai/both"].whole_set
    assert "Accuracy by language" not in str(score_bench(folder, language="ko"))


def test_the_board_ranks_in_each_language(folder, tmp_path):
    board, _ = make_board(find_runs([folder]))
    ranks = {language: {entry.name: entry.rank for entry in part.entries} for language, part in board.languages}
    assert ranks["en"] == {"both": "1 to 2", "english": "1 to 2"}
    assert ranks["ko"] == {"both": "1", "english": "2"}
    write_site(find_runs([folder]), tmp_path / "site", SET)
    page = (tmp_path / "site" / "index.html").read_text()
    assert page.index("By language") < page.index("English") < page.index("Korean")
    assert "20 questions in 10 families" in page
    stored = json.loads((tmp_path / "site" / "data" / "scores.json").read_text())
    assert stored["ranks_by_language"]["ko"] == {"openai/both": [1, 1], "openai/english": [2, 2]}


def test_a_set_in_one_language_has_no_split(tmp_path):
    english = make_set("public", "public", [item for item in ITEMS if item.language == "en"])
    run_scripted(tmp_path / "runs", "openai/m", right, english, runs=1)
    board, _ = make_board(find_runs([tmp_path / "runs"]))
    assert board.languages == ()
    write_site(find_runs([tmp_path / "runs"]), tmp_path / "site", english)
    assert "By language" not in (tmp_path / "site" / "index.html").read_text()


def test_people_and_parts_of_a_set_are_split_too(folder, tmp_path):
    write_human_run(tmp_path / "people", SET, judged(SET), Tally())
    [people] = find_runs([tmp_path / "people"])
    assert why_not(in_language(people, "ko")) == ""
    part = run_scripted(tmp_path / "part", "openai/m", right, SET, runs=1, limit=30)
    assert "asked" in why_not(in_language(part, "ko"))


def test_the_plan_of_a_language_lists_its_items_and_how_many_answers_belong_to_them(folder, tmp_path):
    korean = {item.id for item in ITEMS if item.language == "ko"}
    run = find_runs([folder])[0]
    plan = in_language(run, "ko").plan
    assert (set(plan.items), plan.set_size, plan.total) == (korean, 20, 20)
    stopped = replace(run, rows=run.rows[:-3])
    assert in_language(stopped, "ko").plan.total == 20
    write_human_run(tmp_path / "people", SET, judged(SET)[:-1], Tally())  # one person left one item out
    [people] = find_runs([tmp_path / "people"])
    part = in_language(people, "ko")
    assert (set(part.plan.items), part.plan.total, len(part.rows)) == (korean, 59, 59)


def test_a_language_that_was_not_asked_is_one_line(folder, deadpan):
    with pytest.raises(DeadpanError, match="fr"):
        score_bench(folder, language="fr")
    assert deadpan("bench", "score", folder, "--language", "fr").status == 2
    ran = deadpan("bench", "score", folder, "--language", "ko", "--json")
    assert {each["n"] for each in ran.json["scores"]} == {20}
