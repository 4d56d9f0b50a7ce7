"""Pairs and sequences of responses to one context."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from deadpan.errors import DataError
from deadpan.stats import pair_accuracy, sequence_scores

TRUTH = [True, False] * 4
PAIRS = ["a", "a", "b", "b", "c", "c", "d", "d"]


def test_a_pair_is_won_by_the_higher_score_whatever_the_labels_and_a_tie_is_half() -> None:
    scores = [0.9, 0.8, 0.2, 0.1, 0.5, 0.5, 0.3, 0.4]
    assert pair_accuracy(TRUTH, [True] * 8, scores, PAIRS) == pytest.approx((1 + 1 + 0.5 + 0) / 4)


def test_labels_stand_in_for_scores_and_unread_loses_the_pair() -> None:
    answers = [True, False, True, True, False, True, True, None]
    assert pair_accuracy(TRUTH, answers, [None] * 8, PAIRS) == pytest.approx((1 + 0.5 + 0 + 0) / 4)
    # The score of one response alone says nothing about the pair.
    assert pair_accuracy([True, False], [True, False], [0.1, None], ["a", "a"]) == 1.0


def test_the_order_within_a_pair_does_not_matter() -> None:
    assert pair_accuracy([False, True], [False, True], [0.1, 0.2], ["a", "a"]) == 1.0


@pytest.mark.parametrize(
    ("truth", "sequences", "said"),
    [
        ([True, True], ["a", "a"], "1 of 1 sequences do not have one response of each label, such as 'a'"),
        ([True, False, False], ["a", "a", "a"], "1 of 1 sequences"),
        ([True, False], ["", ""], "no sequences"),
    ],
)
def test_pair_accuracy_needs_pairs(truth: list[bool], sequences: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        pair_accuracy(truth, truth, [None] * len(truth), sequences)


def test_nan_scores_are_refused() -> None:
    with pytest.raises(DataError, match="NaN"):
        pair_accuracy([True, False], [True, False], [math.nan, 0.5], ["a", "a"])


def test_sequence_scores_average_over_sequences_not_responses() -> None:
    truth = [True, False, False, True, True]
    answers = [True, True, True, True, None]
    # First sequence: one of three calls right, all found. Second: the call right, half found.
    precision, recall, f1 = sequence_scores(truth, answers, ["a", "a", "a", "b", "b"])
    assert precision == pytest.approx((1 / 3 + 1) / 2)
    assert recall == pytest.approx((1 + 1 / 2) / 2)
    assert f1 == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_calling_none_is_zero_where_there_are_some_and_one_where_there_are_none() -> None:
    assert sequence_scores([True, False], [False, False], ["a", "a"]) == (0, 0, 0)
    assert sequence_scores([False, False], [False, False], ["a", "a"]) == (1, 1, 1)
    assert sequence_scores([False, False], [True, False], ["a", "a"]) == (0, 0, 0)
    with pytest.raises(DataError, match="no example has a sequence"):
        sequence_scores([True], [True], [""])


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=25))
@settings(deadline=None, max_examples=40)
def test_each_sequence_scores_as_scikit_learn_scores_it(rows: list[tuple[bool, bool, str]]) -> None:
    wanted = []
    for name in {name for _, _, name in rows}:
        truth = [label for label, _, at in rows if at == name]
        answers = [answer for _, answer, at in rows if at == name]
        if any(truth) or any(answers):
            wanted.append(precision_recall_fscore_support(truth, answers, average="binary", zero_division=0)[:3])
        else:
            wanted.append((1.0, 1.0, 1.0))
    found = sequence_scores(*(list(column) for column in zip(*rows, strict=True)))
    assert found == pytest.approx([sum(column) / len(wanted) for column in zip(*wanted, strict=True)])


@pytest.mark.parametrize(
    ("scores", "sequences", "said"),
    [
        ([0.1, 0.2], ["a"], "one value per response: got 2, 2, 2, 1"),
        ([0.1, "high"], ["a", "a"], "numbers or None: got 'high'"),
        ([0.1, 0.2], ["a", 1], "names, empty for none: got 1"),
    ],
)
def test_columns_that_do_not_fit_are_refused(scores: list[object], sequences: list[object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        pair_accuracy([True, False], [True, False], scores, sequences)  # type: ignore[arg-type]
