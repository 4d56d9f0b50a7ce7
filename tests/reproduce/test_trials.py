"""Several seeds: the mean of each score with one interval, and constant answers that are named."""

from __future__ import annotations

import pytest

from deadpan.records import Example, Prediction, Turn
from deadpan.reproduce import trials
from deadpan.splits import Fold
from deadpan.stats import score_predictions

EXAMPLES = [Example(f"e{n}", Turn("", f"text {n}"), label=n % 3 == 0) for n in range(60)]
FOLDS = [Fold([], EXAMPLES[:30]), Fold([], EXAMPLES[30:])]


def answers(label):
    return [Prediction(example.id, label(number, example)) for number, example in enumerate(EXAMPLES)]


def kept(label):
    return trials.answers_of(EXAMPLES, answers(label), FOLDS)


def test_the_mean_over_seeds_lies_inside_one_interval():
    right, half = (lambda n, e: e.label), (lambda n, e: e.label if n % 2 else n % 4 == 0)
    mean = trials.mean_scores([kept(right), kept(half)])
    each = [score_predictions(EXAMPLES, answers(label)).scores for label in (right, half)]
    for name in ("f1", "precision", "recall", "macro_f1", "balanced_accuracy"):
        assert mean[name].value == pytest.approx(sum(table[name].value for table in each) / 2)
        assert mean[name].low < mean[name].value < mean[name].high
        assert mean[name].n == 60


def test_two_equal_seeds_have_the_interval_of_one():
    once = kept(lambda n, e: n % 2 == 0)
    table = score_predictions(EXAMPLES, answers(lambda n, e: n % 2 == 0)).scores
    mean = trials.mean_scores([once, once])["f1"]
    assert (mean.value, mean.low, mean.high) == pytest.approx((table["f1"].value, table["f1"].low, table["f1"].high))


def test_a_constant_answer_is_named_whole_or_by_fold():
    always, varied = kept(lambda n, e: True), kept(lambda n, e: n % 2 == 0)
    partly = kept(lambda n, e: n >= 30 and n % 2 == 0)
    assert trials.constancy([varied]) == ""
    assert "constant answer in 1 of 2 trainings" in trials.constancy([partly])
    assert "sarcastic to every text" in trials.constancy([always, always])
    assert trials.all_constant([always]) and not trials.all_constant([always, varied])
    assert trials.f1_of_always(always) == pytest.approx(
        score_predictions(EXAMPLES, answers(lambda n, e: True)).scores["f1"].value
    )
