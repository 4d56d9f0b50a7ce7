"""Paired comparisons find planted differences, and find none where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from deadpan.errors import DataError
from deadpan.stats import wilson
from deadpan.stats.paired import (
    clustered_share,
    compare_paired,
    mcnemar_mid_p,
    paired_interval,
    paired_test,
    standard_error,
)


def scores(n: int, d: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw 0/1 scores of two systems that differ by d, with a discordance of about 0.2."""
    cell = rng.choice(4, size=n, p=[0.6, 0.1 + d / 2, 0.1 - d / 2, 0.2])
    return (cell < 2).astype(float), ((cell == 0) | (cell == 2)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 400])
def test_mcnemars_size_is_near_the_level(n):
    """The exact probability of p < 0.05 where the systems do not differ, summed over all outcomes."""
    size = 0.0
    for discordant in range(n + 1):
        weight = binom.pmf(discordant, n, 0.21)
        rejected = [k for k in range(discordant + 1) if mcnemar_mid_p(k, discordant - k) < 0.05]
        size += weight * binom.pmf(rejected, discordant, 0.5).sum()
    assert 0.04 <= size <= 0.06


def test_a_planted_difference_is_found_and_none_where_there_is_none():
    found = {0.0: 0, 0.1: 0}
    for d in found:
        for seed in range(40):
            first, second = scores(400, d, np.random.default_rng(seed))
            result = compare_paired(first, second, np.arange(400), resamples=200, seed=seed)
            found[d] += result.significant
    assert found[0.0] <= 6
    assert found[0.1] >= 36


def test_clusters_are_flipped_as_a_whole():
    """Forty copies of ten independent items are ten items: no difference can be sure."""
    rng = np.random.default_rng(3)
    ten = rng.normal(0.1, 0.3, 10)
    copies, codes = np.repeat(ten, 40), np.repeat(np.arange(10), 40)
    honest = paired_test(copies, codes)
    assert honest.p == pytest.approx(paired_test(ten, np.arange(10)).p)
    assert paired_test(copies, np.arange(400)).p < honest.p
    assert standard_error(copies, codes) == pytest.approx(float(np.std(ten, ddof=1)) / np.sqrt(10))


def test_the_permutation_test_lists_or_draws_flips_alike():
    rng = np.random.default_rng(0)
    sums = rng.normal(0.3, 1, 13)
    listed = paired_test(sums, np.arange(13)).p
    padded = np.concatenate([sums, np.full(4, 1e-7)])  # four more clusters that hardly matter: drawn
    assert paired_test(padded, np.arange(17)).p == pytest.approx(listed, abs=0.02)


def test_the_interval_covers_the_true_difference_with_few_clusters():
    covered = 0
    for seed in range(300):
        differences = np.random.default_rng(seed).normal(0.2, 1, 12)
        interval = paired_interval(differences, np.arange(12), resamples=400, seed=seed)
        covered += interval.low <= 0.2 <= interval.high
    assert 0.91 <= covered / 300 <= 0.98  # plain percentiles have 0.89


def test_three_clusters_of_equal_systems_are_rarely_called_different():
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(3), 20)
    excluded = 0
    for number in range(400):
        differences = rng.normal(size=3)[codes] + rng.normal(size=60)
        interval = paired_interval(differences, codes, resamples=500, seed=number)
        excluded += interval.low > 0 or interval.high < 0
    assert excluded / 400 < 0.08  # plain percentiles: 0.19
    certain = paired_interval(np.repeat([1.0, 1.0, 0.8], 20), codes, limits=(-1, 1))
    assert certain.high == 1  # no difference of scores from 0 to 1 is larger


def test_power_and_items_needed_agree():
    first, second = scores(400, 0.05, np.random.default_rng(1))
    result = compare_paired(first, second, np.arange(400))
    assert result.power[0.02] < result.power[0.05] < result.power[0.1]
    assert result.detectable == pytest.approx(2.8016 * result.standard_error, rel=1e-3)
    assert result.needed == pytest.approx(
        400 * (result.detectable / abs(result.difference.value)) ** 2, abs=1
    )


def test_equal_systems_and_bad_input():
    same = np.ones(5)
    result = compare_paired(same, same, np.arange(5))
    assert result.test.p == 1.0
    assert result.needed is None
    assert "no difference" in result.verdict
    with pytest.raises(DataError, match="one score of each system per item"):
        compare_paired(same, same[:3], np.arange(5))
    with pytest.raises(DataError, match="a number per item"):
        compare_paired(same, np.array([1, 0, np.nan, 1, 1]), np.arange(5))


def test_very_many_items_have_the_normal_limits_of_both_tests(monkeypatch):
    rng = np.random.default_rng(5)
    differences, clusters = rng.normal(0.05, 1, 3_000), np.arange(3_000)
    drawn, p = (
        paired_interval(differences, clusters, resamples=4_000),
        paired_test(differences, clusters, flips=4_000).p,
    )
    monkeypatch.setattr("deadpan.stats.paired.MANY", 2_000)
    limit, test = paired_interval(differences, clusters), paired_test(differences, clusters)
    assert (limit.low, limit.high) == pytest.approx((drawn.low, drawn.high), abs=0.004)
    assert test.p == pytest.approx(p, abs=0.01) and "normal limit" in test.method


def test_a_difference_that_two_items_cannot_settle_is_not_called_none():
    result = compare_paired(np.ones(2), np.zeros(2), np.arange(2))
    assert result.verdict == "not settled: too few items"


def test_the_interval_of_a_mean_is_wilsons_for_independent_items_and_covers_near_1_in_clusters():
    scores = np.repeat([1.0, 0.0], [1_900, 100])
    alone, plain = clustered_share(scores, np.arange(2_000)), wilson(1_900, 2_000)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=1e-4)
    assert clustered_share(np.ones(9), np.arange(9)).low == pytest.approx(wilson(9, 9).low)
    rng, codes = np.random.default_rng(3), np.repeat(np.arange(100), 5)
    means = rng.beta(9.5, 0.5, (1_000, 100))  # accuracies of clusters, 0.95 on average
    found = [clustered_share((rng.random(500) < row[codes]).astype(float), codes) for row in means]
    assert np.mean([one.low <= 0.95 <= one.high for one in found]) > 0.92
