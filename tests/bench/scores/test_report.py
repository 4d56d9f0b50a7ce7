"""Reports of scores: the reading of answers, and runs that are not ranked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench_items import right, run_scripted, says, small_set
from deadpan.bench.items.item import LETTERS
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.folder import ROWS, read_run
from deadpan.bench.scores.report import score_bench
from deadpan.bench.scores.score import score_run
from deadpan.bench.site.board import make_board
from deadpan.bench.site.index import finding, index_page

SET = small_set(12)


def sometimes(share: int, text: str, stop="stop"):
    """A model whose every `share`-th item gets another text."""

    def answer(posed, limit, before):
        place = int(posed.item.id[1:].split("-")[0]) * 2 + int(posed.item.id[-1])
        return GivenAnswer(text, stop, "m-1", 100, 5) if place % share == 0 else right(posed)

    return answer


def test_answers_in_other_forms_count_and_the_share_in_form_is_reported(tmp_path):
    def chatty(posed, limit, before):
        letter = LETTERS[posed.order.index(posed.item.answer)]
        forms = {1: f"The answer is {letter}.", 2: posed.item.options[posed.item.answer], 3: f"Final Answer: {letter}"}
        return GivenAnswer(forms[posed.run], "stop", "m-1", 100, 5)  # fmt: skip

    run = run_scripted(tmp_path, "openai/chatty", chatty, SET, shuffle=True)
    scores = score_run(run)
    assert (scores.avg.value, scores.unread, scores.in_form) == (1.0, 0.0, pytest.approx(1 / 3))
    assert [row.in_form for row in run.rows[:3]] == [False, False, True]
    assert "in form" in str(score_bench(tmp_path))
    assert "33.3 %" in str(score_bench(tmp_path))


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        ("", "content_filter", "12.5 % refused (at most 2 % may be)"),
        ("I cannot answer.", "stop", "12.5 % unread (at most 2 % may be)"),
        ("Let me think", "max_tokens", "12.5 % cut off (at most 2 % may be)"),
    ],
)
def test_a_run_with_many_unread_refused_or_cut_off_answers_is_shown_but_not_ranked(tmp_path, text, stop, reason):
    runs = [
        run_scripted(tmp_path, "openai/good", right, SET),
        run_scripted(tmp_path, "openai/mute", sometimes(8, text, stop), SET),
    ]
    result = score_bench(tmp_path)
    assert [each["not_ranked"] for each in result.as_dict()["scores"]] == ["", reason]
    assert f"openai/mute is not ranked: {reason}." in str(result)
    board, _ = make_board(runs)
    assert {entry.name: entry.rank for entry in board.entries} == {"good": "1", "mute": "–"}
    assert f"not ranked: {reason}" in index_page(board, [], [], ())
    assert "mute" not in finding(board)


def test_runs_of_equal_accuracy_are_ordered_by_name(tmp_path):
    for name in ("openai/b", "openai/c", "openai/a"):
        run_scripted(tmp_path, name, right, SET)
    assert score_bench(tmp_path).names == ("openai/a", "openai/b", "openai/c")


def test_two_percent_may_be_unread(tmp_path):
    items = small_set(36)
    few = run_scripted(tmp_path, "openai/few", sometimes(72, "Hm."), items)
    assert 0 < score_run(few).unread < 0.02
    assert score_run(few).not_ranked == ""
    alone = run_scripted(tmp_path, "openai/all", sometimes(1, "Hm."), items)
    board, _ = make_board([alone])
    assert "No model is ranked" in finding(board)


def test_ties_are_explained(tmp_path):
    run_scripted(tmp_path, "openai/m", lambda q, limit, n: says((q.item.answer + q.run) % 6, q), SET)
    assert "a tie is wrong" in str(score_bench(tmp_path))


def test_rows_of_older_runs_are_still_read(tmp_path):
    run = run_scripted(tmp_path, "openai/old", right, SET)
    path = run.path / ROWS
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    old = [{k: v for k, v in row.items() if k not in ("in_form", "reasoning_tokens")} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in old))
    again = read_run(run.path)
    assert again.complete
    assert again.rows[0] == replace(run.rows[0], in_form=None)
    assert score_run(again).in_form == 1.0
