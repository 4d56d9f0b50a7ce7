"""Scores: the item is the unit, letters are voted on, perfect scores keep an interval."""

from __future__ import annotations

import pytest

from bench_items import right, run_scripted, says, small_set
from deadpan.bench.scores.score import ItemAnswers, mean_interval, score_run
from deadpan.llm.retries import Failed

SET = small_set(12)


def run(out, name, answer, items=SET, **changes):
    return run_scripted(out, name, answer, items, **changes)


@pytest.mark.parametrize(
    ("letters", "voted", "tied"),
    [("CCDEF", "C", False), ("CCDDF", "", True), ("C", "C", False), ("CD", "", True)],
)
def test_the_vote_is_on_letters_and_a_tie_is_flagged(letters, voted, tied):
    answered = ItemAnswers("i", "f", "c", "en", "C", tuple(letters), 0.4)
    assert (answered.plurality, answered.tied) == (voted, tied)


def test_unread_letters_have_no_vote():
    assert ItemAnswers("i", "f", "c", "en", "C", ("", "", "C"), 0.3).plurality == "C"
    assert not ItemAnswers("i", "f", "c", "en", "C", ("", ""), 0.0).tied


@pytest.mark.parametrize("letters", ["AABBC", "BBAAC", "CABAB"])
def test_a_tied_majority_is_wrong_in_any_order_and_is_counted(tmp_path, letters):
    """Two letters, twice each: neither is the majority, although one of them is the answer."""
    items = small_set(6)

    def answer(posed, limit, before):
        places = {"A": posed.item.answer, "B": (posed.item.answer + 1) % 6, "C": (posed.item.answer + 2) % 6}
        return says(places[letters[posed.run - 1]], posed)

    scores = score_run(run(tmp_path, "openai/m", answer, items=items, runs=5))
    assert (scores.maj.value, scores.ties, scores.avg.value) == (0.0, 12, pytest.approx(0.4))


def test_a_perfect_score_keeps_its_doubt(tmp_path):
    scores = score_run(run(tmp_path, "openai/perfect", right))
    assert (scores.avg.value, scores.avg.high) == (1.0, 1.0)
    assert 0.7 < scores.avg.low < 0.8  # Wilson on 12 families, not on 72 answers
    assert scores.consistency.value == scores.letter_consistency.value == scores.pairs.value == 1.0
    assert (scores.n, scores.families, scores.runs, scores.rows) == (24, 12, 3, 72)


def test_the_paper_s_consistency_is_not_that_of_letters(tmp_path):
    # Always wrong, with another letter each time: consistent in being wrong, never in what is said.
    scores = score_run(run(tmp_path, "openai/w", lambda q, limit, n: says((q.item.answer + q.run) % 6, q)))
    assert (scores.consistency.value, scores.letter_consistency.value) == (1.0, 0.0)


def test_half_of_every_pair_is_no_pair(tmp_path):
    scores = score_run(run(tmp_path, "openai/h", lambda q, limit, n: says(0 if q.item.id.endswith("-0") else q.item.answer, q)))  # fmt: skip
    assert scores.pairs.value < scores.avg.value
    assert scores.pairs.n == 12


def test_runs_of_one_question_do_not_narrow_the_interval():
    groups = [f"g{n}" for n in range(40)]
    values = [float(n % 2) for n in range(40)]
    few = mean_interval(values, groups)
    twins = mean_interval([v for v in values for _ in range(5)], [g for g in groups for _ in range(5)])
    assert few.high - few.low == pytest.approx(twins.high - twins.low, rel=0.15)


def test_an_incomplete_run_says_so(tmp_path):
    broken = run(tmp_path, "openai/b", lambda q, limit, n: Failed("x") if q.run == 3 else right(q), retries=0)
    scores = score_run(broken)
    assert not scores.complete
    assert (scores.errors, scores.rows) == (24, 48)
