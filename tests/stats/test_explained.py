"""The share of a score that something else explains: all, none, and in between."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import DataError
from deadpan.stats.explained import explained_share


def planted(weight: float, n: int = 3000, seed: int = 0):
    """Labels that depend on a shortcut and on something else; the detector sees both by `weight`."""
    rng = np.random.default_rng(seed)
    shortcut, rest = rng.normal(size=n), rng.normal(size=n)
    truth = weight * shortcut + (1 - weight) * rest + rng.normal(0, 0.3, n) > 0
    return truth, weight * shortcut + (1 - weight) * rest, shortcut


def test_a_shortcut_that_is_everything_explains_everything():
    found = explained_share(*planted(1.0), resamples=50)
    assert found.share.value > 0.85
    assert found.within < 0.57


def test_a_shortcut_that_is_the_label_leaves_nothing_to_explain():
    truth = np.arange(600) % 2 == 0
    site = truth + np.random.default_rng(0).normal(0, 0.02, 600)
    found = explained_share(truth, truth + np.random.default_rng(1).normal(0, 0.3, 600), site, resamples=20)
    assert found.share.value == 1.0
    assert "alone tells the labels apart" in found.share.why


def test_a_shortcut_that_is_nothing_explains_nothing():
    found = explained_share(*planted(0.0), resamples=50)
    assert abs(found.share.value) < 0.05
    assert found.share.low <= 0.0 <= found.share.high + 0.05


def test_half_is_in_between():
    found = explained_share(*planted(0.5), resamples=50)
    assert 0.03 < found.share.value < 0.6
    assert found.share.low < found.share.value < found.share.high


def test_a_score_that_may_be_chance_has_no_share():
    rng = np.random.default_rng(3)
    truth = np.arange(100) % 2 == 0
    found = explained_share(truth, 0.2 * truth + rng.normal(size=100), rng.normal(size=100), resamples=100)
    assert found.detector > 0.52
    assert found.share.value is None
    assert found.share.why == "the detector is not clearly above chance"


def test_chance_and_bad_input():
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.5
    assert explained_share(truth, np.zeros(500), rng.random(500), resamples=10).share.value is None
    with pytest.raises(DataError, match="both labels"):
        explained_share(np.ones(5, bool), np.zeros(5), np.zeros(5))
