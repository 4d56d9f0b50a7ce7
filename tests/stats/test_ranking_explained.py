"""The share of a score that something else explains: all, none, and in between."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import DataError
from deadpan.stats.ranking import explained_share


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
    found = explained_share(truth, np.zeros(500), rng.random(500), resamples=10)
    assert (found.share.value, found.share.why) == (None, "the detector is at chance")
    with pytest.raises(DataError, match="both labels"):
        explained_share(np.ones(5, bool), np.zeros(5), np.zeros(5))


def within_by_pairs(truth, detector, shortcut, strata: int) -> float:
    """The AUC over pairs of one stratum, each pair and each stratum looked up by itself."""
    low, high = min(shortcut), max(shortcut)

    def stratum(value: float) -> tuple[int, int]:
        rank = sum(other < value for other in shortcut) + sum(other == value for other in shortcut) / 2
        step = 19 if value == high else int((value - low) / ((high - low) / 20))
        return int(rank / len(shortcut) * strata), step

    placed = {value: stratum(value) for value in set(shortcut)}
    codes = np.array([50 * size + step for size, step in (placed[value] for value in shortcut)])
    together = codes[truth][:, None] == codes[~truth]
    more = np.sign(detector[truth][:, None] - detector[~truth])
    return float((more[together] + 1).mean() / 2)


@pytest.mark.parametrize(("n", "strata"), [(150, 5), (420, 7), (3120, 50)])
def test_strata_are_of_equal_size_and_end_at_twentieths_of_the_range(n, strata):
    """Sixty examples each, from 5 to 50 strata; values far off at both ends and many that are equal."""
    rng = np.random.default_rng(n)
    truth = np.arange(n) % 2 == 0
    shortcut = np.round(3 + 0.1 * rng.normal(size=n) + 0.05 * truth, 2)
    shortcut[:4] = 2.6
    shortcut[4:16] = np.repeat([3.4, 3.39, 3.35], 4)  # two of the last twentieth and one below it
    detector = np.round(shortcut + rng.normal(size=n) + truth, 1)
    found = explained_share(truth, detector, shortcut, resamples=1)
    assert found.within == pytest.approx(within_by_pairs(truth, detector, shortcut.tolist(), strata))


def test_a_detector_at_chance_is_still_scored_within_strata():
    truth = np.tile([True, False], 30)
    site = np.repeat([0.0, 1.0, 2.0], 20)
    found = explained_share(truth, np.where(site == 0, truth, ~truth), site, resamples=1)
    assert (found.within, found.share.why) == (pytest.approx(1 / 3), "the detector is at chance")
    found = explained_share(truth, np.zeros(60), truth.astype(float), resamples=1)
    assert (found.within, found.shortcut) == (0.5, 1.0)


def test_resamples_of_one_label_are_left_out_if_they_are_few():
    """Of four and three examples, 2.2 % of resamples have one label only; 2.5 % may, and 2 % may not."""
    truth = np.arange(7) % 2 == 0
    found = explained_share(truth, truth.astype(float), np.zeros(7), resamples=2000)
    assert found.share.value == 0.0 and "of 2000 resamples undefined" in found.share.why
    strict = explained_share(truth, truth.astype(float), np.zeros(7), resamples=2000, level=0.96)
    assert strict.share.value is None
