"""Soft scores against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import DeadpanError
from deadpan.stats import wilson
from deadpan.stats.calibration import MOST, cross_entropy, jensen_shannon, rank_correlation, soft_scores


def test_distances_and_correlations_are_scipys():
    from scipy.spatial.distance import jensenshannon
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    truth, answer = rng.integers(0, 6, 50) / 5, rng.random(50)
    theirs = [jensenshannon([t, 1 - t], [a, 1 - a], base=2) for t, a in zip(truth, answer, strict=True)]
    assert jensen_shannon(truth, answer) == pytest.approx(theirs, abs=1e-6)
    assert rank_correlation(truth, answer) == pytest.approx(spearmanr(truth, answer).statistic)


def test_the_votes_themselves_reach_the_floor_and_the_mean_does_not():
    shares = [0.0, 0.2, 0.6, 1.0] * 20
    perfect = soft_scores(shares, shares, resamples=50)
    assert perfect.scores["cross_entropy"].value == pytest.approx(perfect.floor, abs=1e-9)
    assert perfect.scores["jensen_shannon"].value == pytest.approx(0, abs=1e-6)
    assert perfect.scores["rank_correlation"].value == pytest.approx(1)
    constant = soft_scores(shares, [0.45] * 80, resamples=50)
    assert constant.scores["cross_entropy"].value == pytest.approx(constant.constant)
    assert constant.scores["rank_correlation"].value is None


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="between 0 and 1"):
        soft_scores([0.5], [1.5])
    with pytest.raises(DeadpanError, match="one prediction per share"):
        soft_scores([0.5], [0.5, 0.5])


def test_the_cross_entropy_is_that_of_scikit_learn():
    from sklearn.metrics import log_loss

    answer = np.array([0.1, 0.3, 0.8])
    assert cross_entropy(np.ones(3), answer) == pytest.approx(
        [log_loss([1], [a], labels=[0, 1]) / np.log(2) for a in answer]
    )
    assert cross_entropy(np.zeros(3), answer) == pytest.approx(
        [log_loss([0], [a], labels=[0, 1]) / np.log(2) for a in answer]
    )
    half = (cross_entropy(np.ones(3), answer) + cross_entropy(np.zeros(3), answer)) / 2
    assert cross_entropy(np.full(3, 0.5), answer) == pytest.approx(half)


def test_scores_that_never_vary_have_the_ends_that_their_limits_allow():
    share = wilson(0, 20).high
    same = soft_scores([1.0] * 20, [0.5] * 20, resamples=50).scores
    distance, loss = same["jensen_shannon"], same["cross_entropy"]
    assert (distance.low, distance.high) == pytest.approx(
        (distance.value * (1 - share), distance.value + share * (1 - distance.value))
    )
    assert loss.value == 1 and (loss.low, loss.high) == pytest.approx((1 - share, 1 + share * (MOST - 1)))
    order = [n / 20 for n in range(20)]
    right = soft_scores(order, order, resamples=50).scores["rank_correlation"]
    assert (right.low, right.high) == pytest.approx((1 - 2 * share, 1))
    wrong = soft_scores(order, order[::-1], resamples=50).scores["rank_correlation"]
    assert (wrong.low, wrong.high) == pytest.approx((-1, -1 + 2 * share))


def test_a_constant_side_has_no_order():
    order = np.array([0.1, 0.2, 0.3])
    assert rank_correlation(np.full(3, 0.5), order) is None
    assert rank_correlation(order, np.full(3, 0.5)) is None


def test_the_seed_is_0_and_a_correlation_is_resampled_500_times_at_most():
    rng = np.random.default_rng(2)
    shares, answers = rng.random(12), rng.random(12)
    found = [soft_scores(shares, answers, **how).scores for how in ({}, {"seed": 0}, {"seed": 1})]
    assert found[0] == found[1] != found[2]
    fewer = soft_scores(shares, answers, resamples=500).scores
    assert fewer["rank_correlation"] == found[0]["rank_correlation"]
    assert fewer["cross_entropy"] != found[0]["cross_entropy"]
