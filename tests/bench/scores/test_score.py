"""Scores: the item is the unit, letters are voted on, perfect scores keep an interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import right, run_scripted, says, small_set
from bench_rows import make_row, make_rows, make_run
from deadpan.bench.items.item import CATEGORIES
from deadpan.bench.scores.score import ItemAnswers, item_answers, mean_interval, minimal_pair_accuracy, score_run
from deadpan.errors import DataError
from deadpan.llm.retries import Failed
from deadpan.stats import wilson

SET = small_set(12)
TWO_RIGHT = {f"{letter}{twin}": "AAA" for letter in "abcdefghijkl" for twin in (1, 2)}
"""Twelve pairs, both right in all of three runs."""


@pytest.mark.parametrize(
    ("letters", "voted", "tied"), [("CCDEF", "C", False), ("CCDDF", "", True), ("C", "C", False), ("CD", "", True)]
)
def test_the_vote_is_on_letters_and_a_tie_is_flagged(letters, voted, tied):
    answered = ItemAnswers("i", "f", "c", "en", "C", tuple(letters), 0.4)
    assert (answered.plurality, answered.tied) == (voted, tied)


def test_answers_without_a_letter_vote_as_wrong():
    assert ItemAnswers("i", "f", "c", "en", "C", ("", "", "C"), 0.3).plurality == ""
    assert ItemAnswers("i", "f", "c", "en", "C", ("", "", "C", "C", "C"), 0.6).plurality == "C"
    assert ItemAnswers("i", "f", "c", "en", "C", ("", "", "C", "C", "D"), 0.4).tied
    assert not ItemAnswers("i", "f", "c", "en", "C", ("", ""), 0.0).tied


@pytest.mark.parametrize("letters", ["AABBC", "BBAAC", "CABAB"])
def test_a_tied_majority_is_wrong_in_any_order_and_is_counted(letters):
    """Two letters, twice each: neither is the majority, although one of them is the answer."""
    scores = score_run(make_run(make_rows({"a1": letters, "a2": letters, "b1": letters})))
    assert (scores.maj.value, scores.ties, scores.avg.value) == (0.0, 3, pytest.approx(0.4))


def test_a_perfect_score_keeps_its_doubt():
    scores = score_run(make_run(make_rows(TWO_RIGHT)))
    exact = wilson(12, 12)  # on 12 families, not on 72 answers
    assert (scores.avg.value, scores.avg.low, scores.avg.high) == (1.0, exact.low, 1.0)
    assert scores.consistency.value == scores.letter_consistency.value == scores.pairs.value == 1.0
    assert (scores.n, scores.families, scores.runs, scores.rows) == (24, 12, 3, 72)
    assert (scores.avg.n, scores.pairs.n) == (24, 12)


def test_nothing_right_keeps_its_doubt_too():
    none = mean_interval([0.0] * 6, list("aabbcc"))
    assert (none.value, none.low, none.high, none.n, none.why) == (0.0, 0.0, wilson(0, 3).high, 6, "")


def test_items_that_are_all_right_as_often_keep_their_doubt():
    """Every resample gives 0.5: those not seen may be anywhere from 0 to 1."""
    half = mean_interval([0.5] * 6, list("abcdef"))
    doubt = wilson(0, 6).high / 2
    assert (half.low, half.high) == pytest.approx((0.5 - doubt, 0.5 + doubt))


def test_the_paper_s_consistency_is_not_that_of_letters():
    # Always wrong, with another letter each time: consistent in being wrong, never in what is said.
    scores = score_run(make_run(make_rows({"a1": "BCD", "b1": "CDE", "c1": "DEF"})))
    assert (scores.consistency.value, scores.letter_consistency.value) == (1.0, 0.0)
    scores = score_run(make_run(make_rows({"a1": "AAA", "b1": "BBB", "c1": "AAB", "d1": "   "})))
    assert (scores.consistency.value, scores.letter_consistency.value) == (0.75, 0.5), "unread is no letter"


def test_a_pair_is_right_where_both_items_are_in_one_run():
    letters = {"a1": "AB", "a2": "BA", "b1": "AA", "b2": "AB", "c1": "AA", "d1": "A", "d2": "A", "d3": "A"}
    pairs = minimal_pair_accuracy(make_rows(letters))
    assert (pairs.value, pairs.n) == (0.25, 2), "a 0, b 1/2; c has no twin, d is no pair"


def test_runs_of_one_question_do_not_narrow_the_interval():
    groups = [f"g{n}" for n in range(40)]
    values = [float(n % 2) for n in range(40)]
    few = mean_interval(values, groups)
    twins = mean_interval([v for v in values for _ in range(5)], [g for g in groups for _ in range(5)])
    assert few.high - few.low == pytest.approx(twins.high - twins.low, rel=0.15)


def test_the_intervals_are_those_of_seed_0():
    values, groups = [n / 30 for n in range(30)], [f"g{n}" for n in range(30)]
    assert mean_interval(values, groups) == mean_interval(values, groups, seed=0)
    assert mean_interval(values, groups) != mean_interval(values, groups, seed=1)
    rows = make_rows({f"{name}{twin}": "A" * n + "B" * (26 - n)
                      for n, name in enumerate("abcdefghijklmnopqrstuvwxyz") for twin in (1, 2)})  # fmt: skip
    assert minimal_pair_accuracy(rows) == minimal_pair_accuracy(rows, seed=0) != minimal_pair_accuracy(rows, seed=1)
    assert score_run(make_run(rows)) == score_run(make_run(rows), seed=0) != score_run(make_run(rows), seed=1)


def test_an_incomplete_run_says_so(tmp_path):
    broken = run_scripted(
        tmp_path, "openai/b", lambda q, limit, n: Failed("x") if q.run == 3 else right(q), SET, retries=0
    )
    scores = score_run(broken)
    assert not scores.complete
    assert (scores.errors, scores.rows) == (24, 48)


def test_half_of_every_pair_is_no_pair(tmp_path):
    scores = score_run(run_scripted(tmp_path, "openai/h", lambda q, limit, n: says(0 if q.item.id.endswith("-0") else q.item.answer, q), SET))  # fmt: skip
    assert scores.pairs.value < scores.avg.value
    assert scores.pairs.n == 12


def test_answers_of_an_item_are_in_the_order_of_runs():
    rows = [make_row("a1", 3, "C"), make_row("b1", 1, "A"), make_row("a1", 1, "A"), make_row("a1", 2, "A")]
    first, second = item_answers(rows)
    assert (first.item, first.predictions, first.right) == ("a1", ("A", "A", "C"), pytest.approx(2 / 3))
    assert (second.item, second.right) == ("b1", 1.0)


def test_scores_are_split_by_category_and_language():
    rows = [
        *make_rows({"a1": "AB"}, category=CATEGORIES[1]),
        *make_rows({"b1": "AA", "c1": "BB", "d1": "BB"}, category=CATEGORIES[2], language="ko"),
    ]
    scores = score_run(make_run(rows))
    assert {name: scores.categories[name].value for name in CATEGORIES[:3]} == {
        CATEGORIES[0]: None, CATEGORIES[1]: 0.5, CATEGORIES[2]: pytest.approx(1 / 3),
    }  # fmt: skip
    assert scores.categories[CATEGORIES[0]].why == "no items of this kind"
    assert {name: share.value for name, share in scores.languages.items()} == {"en": 0.5, "ko": pytest.approx(1 / 3)}


def test_rates_are_shares_of_all_rows_and_sums_are_over_answers():
    rows = [
        make_row("a1", 1, "", escalated=2, cost=0.0, seconds=1.0, at="2026-11-16T00:00:00"),
        make_row("a1", 2, "", stop_reason="max_tokens", escalated=1, retries=2, cost=0.5, seconds=9.0),
        make_row("a2", 1, "", stop_reason="content_filter", order="AB", cost=0.25, returned="", at="2026-11-17"),
        make_row("a2", 2, "A", order="", cost=0.25, returned="m-2", reasoning_tokens=3, at=""),
        make_row("b1", 1, "", error="timeout", retries=3, cost=None),
    ]
    scores = score_run(make_run(rows, runs=2))
    assert (scores.unread, scores.truncated, scores.refused, scores.escalated) == (0.2, 0.2, 0.2, 0.4)
    assert (scores.rows, scores.errors, scores.retries) == (4, 2, 5)
    assert scores.chance == pytest.approx((1 / 6 + 1 / 6 + 1 / 2 + 1 / 6) / 4)
    assert (scores.cost, scores.seconds, scores.output_tokens, scores.reasoning_tokens) == (1.0, 1.0, 20, 3)
    assert (scores.returned, scores.dates) == (("m-1", "m-2"), ("2026-11-15", "2026-11-17"))
    unpriced = make_run([*rows[:4], make_row("b1", 1, "A", cost=None)])
    assert score_run(unpriced).cost is None


def test_a_run_is_ranked_with_two_percent_unread():
    rows = make_rows({f"i{n}": "A" for n in range(49)})
    last = make_row("z1", 1, "")
    assert score_run(make_run([*rows, last])).not_ranked == ""
    cut = make_row("z2", 1, "", stop_reason="max_tokens")
    both = make_run([*rows[1:], last, cut])
    assert score_run(both).not_ranked == "2.0 % cut off and 2.0 % unread (at most 2 % may be)"
    assert score_run(both).as_dict()["not_ranked"] == score_run(both).not_ranked
    assert score_run(make_run([*rows[:3], last])).not_ranked.startswith("25.0 % unread")
    baseline = make_run([*rows[1:], last, cut], model="baseline/random")
    assert score_run(baseline).not_ranked == ""


def test_the_answers_of_people_have_no_form_no_order_and_no_errors():
    rows = [
        *make_rows({"a1": "AA", "b1": "AB"}, model="human", in_form=None),
        make_row("a1", 3, "A", model="human", order="BACDEF"),
    ]
    people = score_run(make_run(rows, model="human", runs=5))
    assert (people.in_form, people.shuffle_consistency, people.errors, people.kind) == (None, None, 0, "human")
    model = score_run(make_run([row for row in rows if row.run < 3]))
    assert (model.kind, model.errors, model.shuffle_consistency, model.in_form) == ("model", 0, None, 1.0)


def test_options_in_several_orders_are_compared_where_there_are_several():
    rows = make_rows({"a1": "AA", "b1": "AB", "c1": "BB", "d1": "  "})
    shuffled = [replace(row, order="BACDEF") if row.run == 2 else row for row in rows]
    found = score_run(make_run([*shuffled, *make_rows({"e1": "BC"})])).shuffle_consistency
    assert (found.value, found.n) == (0.5, 4), "e1 was shown in one order only; unread is not the same"


def test_the_form_of_older_answers_is_judged_by_their_text():
    rows = [
        make_row("a1", 1, "A"),
        make_row("a1", 2, "A", text="It is A, I think."),
        make_row("a1", 3, "A", text="It is A, I think.", in_form=True),
        make_row("a1", 4, "A", in_form=False),
    ]
    assert score_run(make_run(rows)).in_form == 0.5


def test_a_run_without_answers_has_no_score():
    with pytest.raises(DataError, match="no answered row to score"):
        score_run(make_run([make_row("a1", 1, "", error="timeout")]))
