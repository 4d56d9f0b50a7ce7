"""Losses: lower is better, in orders and in verdicts."""

from __future__ import annotations

from deadpan.stats import Interval
from deadpan.stats.scores import beats, is_loss, rank_value, with_direction
from deadpan.stats.table import SCORES


def test_the_brier_score_is_the_only_loss():
    assert [name for name in SCORES if is_loss(name)] == ["brier"]
    assert (with_direction("brier"), with_direction("f1")) == ("brier (lower is better)", "f1")


def test_the_better_value_has_more_merit_and_an_undefined_one_least():
    assert rank_value("f1", 0.9) > rank_value("f1", 0.1) > rank_value("f1", None)
    assert rank_value("brier", 0.1) > rank_value("brier", 0.9) > rank_value("brier", None)


def test_a_loss_beats_a_constant_answer_from_below():
    score = Interval(0.2, 0.15, 0.24, 0.95, 100)
    assert beats("brier", score, 0.25) and not beats("brier", score, 0.1)
    assert beats("f1", score, 0.1) and not beats("f1", score, 0.25)
    assert not beats("brier", score, 0.2)
    assert beats("brier", score, None) and beats("f1", Interval(0.2, None, None, 0.95, 1), 0.9)
