"""Soft scores against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan import soft_scores
from deadpan.errors import DeadpanError
from deadpan.stats.soft import jensen_shannon, rank_correlation


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
