"""Area under the ROC curve, and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from deadpan.stats import wilson
from deadpan.stats.ranking import area_under_curve, auc_interval


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_it_is_the_area_of_scikit_learn(rows):
    scores, labels = np.array([float(m) for m, _ in rows]), np.array([label for _, label in rows])
    if labels.any() and not labels.all():
        assert area_under_curve(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


def test_the_interval_holds_the_value_and_widens_with_clusters():
    rng = np.random.default_rng(0)
    labels = rng.random(200) < 0.5
    scores = labels * 0.5 + rng.random(200)
    alone = auc_interval(labels, scores, np.arange(200))
    together = auc_interval(np.repeat(labels, 4), np.repeat(scores, 4), np.repeat(np.arange(200), 4))
    assert alone.low < alone.value < alone.high
    assert together.high - together.low == pytest.approx(alone.high - alone.low, abs=0.02)


@pytest.mark.parametrize("labels", [np.ones(5, bool), np.zeros(5, bool), np.array([], bool)])
def test_one_label_has_no_area(labels):
    found = auc_interval(labels, np.arange(len(labels)) / 5, np.arange(len(labels)))
    assert found.value is None and "both labels" in found.why


def test_one_cluster_has_no_interval_and_two_have_one():
    labels, scores = np.array([True, False, True, False]), np.array([0.9, 0.1, 0.2, 0.3])
    one = auc_interval(labels, scores, np.full(4, 7))
    assert (one.value, one.low, one.n) == (0.75, None, 4) and "one cluster" in one.why
    two = auc_interval(labels, scores, np.array([3, 3, 8, 8]))
    assert (two.low, two.high) == (0.0, 1.0)  # one of the two clusters is in the right order, one in the wrong


def test_a_perfect_order_may_still_be_chance():
    """The ends are Wilson's for as many trials as the rarer label has clusters."""
    labels = np.array([True] * 4 + [False] * 6)
    for sign, value in ((1, 1.0), (-1, 0.0)):
        found, plain = (auc_interval(labels, sign * labels.astype(float), np.arange(10)), wilson(round(4 * value), 4))
        assert (found.value, found.low, found.high) == pytest.approx((value, plain.low, plain.high))


def test_the_seed_is_0_unless_another_is_given(monkeypatch):
    labels, scores = np.arange(20) % 2 == 0, np.random.default_rng(1).random(20)
    found = [auc_interval(labels, scores, np.arange(20), **seed) for seed in ({}, {"seed": 0}, {"seed": 1})]
    assert found[0] == found[1] != found[2]
    monkeypatch.setattr("deadpan.stats.ranking._MOST_ROWS", 20 * 300)  # 300 resamples, whatever is asked
    fewer = auc_interval(labels, scores, np.arange(20))
    assert fewer == auc_interval(labels, scores, np.arange(20), resamples=300) != found[0]
    monkeypatch.setattr("deadpan.stats.ranking._MOST_ROWS", 20)
    assert auc_interval(labels, scores, np.arange(20)) == auc_interval(labels, scores, np.arange(20), resamples=200)
