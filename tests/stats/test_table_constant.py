"""Scores of a constant answer."""

from __future__ import annotations

import pytest

from deadpan.records import Example, Turn
from deadpan.stats.table import constant_scores


def test_the_better_constant_answer_counts_per_score():
    rows = [Example(str(n), Turn("", "x"), label=n < 2) for n in range(10)]
    scores = constant_scores(rows)
    assert scores["accuracy"] == 0.8
    assert scores["f1"] == pytest.approx(2 * 2 / 12)
    assert (scores["auc"], scores["balanced_accuracy"]) == (0.5, 0.5)
    assert scores["brier"] == pytest.approx(0.16)


def test_one_example_has_the_share_of_its_own_label():
    assert constant_scores([Example("a", Turn("", "x"), label=True)])["brier"] == 0.0
    assert constant_scores([]) == {}
