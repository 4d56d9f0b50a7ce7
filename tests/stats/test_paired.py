"""Paired comparisons find planted differences, and find none where there are none."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm, t

from deadpan.errors import ConfigError, DataError
from deadpan.stats import wilson
from deadpan.stats.paired import (
    clustered_share,
    compare_paired,
    mcnemar_mid_p,
    mid_quantiles,
    paired_interval,
    paired_test,
    standard_error,
)


def scores(n: int, d: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw 0/1 scores of two systems that differ by d, with a discordance of about 0.2."""
    cell = rng.choice(4, size=n, p=[0.6, 0.1 + d / 2, 0.1 - d / 2, 0.2])
    return (cell < 2).astype(float), ((cell == 0) | (cell == 2)).astype(float)


def significant(discordant: int) -> list[int]:
    """Counts of one side with p < 0.05; p grows up to the middle and is the same for the other side."""
    return list(itertools.takewhile(lambda k: mcnemar_mid_p(k, discordant - k) < 0.05, range(discordant)))


@pytest.mark.parametrize("n", [100, 400])
def test_mcnemars_size_is_near_the_level(n):
    """The exact probability of p < 0.05 where the systems do not differ, summed over all likely outcomes."""
    size = 0.0
    for discordant, weight in enumerate(binom.pmf(range(n + 1), n, 0.21)):
        if weight < 1e-6:
            continue
        size += 2 * weight * binom.pmf(significant(discordant), discordant, 0.5).sum()
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
    differences, clusters = rng.normal(0.1, 1, 600), np.arange(600)
    drawn, p = (
        paired_interval(differences, clusters, resamples=4_000),
        paired_test(differences, clusters, flips=4_000).p,
    )
    monkeypatch.setattr("deadpan.stats.paired.MANY", 500)
    limit, test = paired_interval(differences, clusters), paired_test(differences, clusters)
    assert (limit.low, limit.high) == pytest.approx((drawn.low, drawn.high), abs=0.01)
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


def test_a_comparison_says_what_was_compared_and_which_is_better():
    first, second = np.array([1.0, 0, 1, 1]), np.array([0.0, 0, 1, 0])
    result = compare_paired(first, second, np.array([0, 0, 1, 2]), names=("ours", "theirs"))
    assert (result.first, result.second, result.n_clusters) == ("ours", "theirs", 3)
    assert (result.mean_first, result.mean_second, result.difference.value) == (0.75, 0.25, 0.5)
    assert (result.test.better_first, result.test.better_second) == (2, 0)
    assert replace(result, p_holm=0.01).verdict == "ours is better"
    swapped = compare_paired(second, first, np.array([0, 0, 1, 2]), names=("theirs", "ours"))
    assert replace(swapped, p_holm=0.01).verdict == "ours is better"
    assert (swapped.test.better_first, swapped.test.better_second) == (0, 2)
    assert not replace(result, p_holm=1 - result.difference.level).significant  # below it, not at it


def test_no_items_and_one_cluster_have_no_interval():
    none = compare_paired(np.array([]), np.array([]), np.array([], int))
    assert (none.n_clusters, none.difference.n, none.test.p) == (0, 0, 1.0)
    assert (
        none.verdict == "undefined (no common items)" and np.isnan([none.mean_first, none.mean_second]).all()
    )
    assert clustered_share(np.array([]), np.array([], int)).why == "no common items"
    assert clustered_share(np.array([]), np.array([], int)).n == 0
    one = compare_paired(np.array([0.5, 0.7]), np.array([0.2, 0.3]), np.zeros(2, int))
    assert "one cluster" in one.difference.why
    assert (one.standard_error, one.detectable, one.power, one.needed) == (None, None, {}, None)
    assert clustered_share(np.array([0.5, 0.7]), np.zeros(2, int)).low is None
    even = compare_paired(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.arange(2))
    assert even.standard_error > 0 and even.needed is None and even.verdict == "no difference found"


def test_the_interval_of_few_clusters_is_the_t_interval():
    """A resample of four values lies within three standard errors of their mean; the t interval is wider."""
    differences = np.array([0.3, -0.1, 0.45, 0.2])
    mine = paired_interval(differences, np.arange(4), level=0.96)
    theirs = t.interval(0.96, 3, differences.mean(), differences.std(ddof=1) / 2)
    assert (mine.low, mine.high) == pytest.approx(theirs)


def test_the_interval_of_skewed_differences_is_the_expanded_percentile_interval():
    differences = np.random.default_rng(4).exponential(1, 25) ** 2
    mine = paired_interval(differences, np.arange(25), resamples=20_000)
    means = np.random.default_rng(9).choice(differences, (20_000, 25)).mean(axis=1)
    tail = norm.cdf(t.ppf(0.025, 24) * np.sqrt(25 / 24))
    upper = np.quantile(means, 1 - tail)
    lower, of_t = t.interval(0.95, 24, differences.mean(), differences.std(ddof=1) / 5)
    assert mine.high == pytest.approx(upper, rel=0.01) and mine.high > 1.03 * of_t
    assert mine.low == pytest.approx(lower)


def test_no_difference_of_scores_from_0_to_1_is_beyond_1():
    codes = np.repeat(np.arange(3), 20)
    right, nearly = np.ones(60), np.repeat([0.0, 0.0, 0.2], 20)
    assert compare_paired(right, nearly, codes).difference.high == 1
    assert compare_paired(nearly, right, codes).difference.low == -1
    for first, second in ((right, nearly - 0.1), (right + 0.1, nearly), (right + 0.1, nearly - 0.1)):
        assert compare_paired(first, second, codes).difference.high > 1


def test_the_standard_error_sums_residuals_within_clusters():
    differences, codes = np.array([1.0, 0.5, 0.0, -0.5, 2.0]), np.array([0, 0, 1, 1, 2])
    mean = differences.sum() / 5
    of_clusters = [(1.0 - mean) + (0.5 - mean), (0.0 - mean) + (-0.5 - mean), 2.0 - mean]
    expected = (3 / 2 * sum(one**2 for one in of_clusters)) ** 0.5 / 5
    assert standard_error(differences, codes) == pytest.approx(expected)
    assert standard_error(np.array([1.0, 0.0]), np.arange(2)) == pytest.approx(0.5)


def test_wilsons_interval_over_clusters_solves_its_equation():
    """Each end is a mean from which the observed one is t of its own standard errors away."""
    scores, codes = np.array([1.0, 0.8, 0.3, 0.9, 1.0, 0.6, 0.0]), np.array([0, 0, 1, 1, 2, 3, 3])
    share, error = clustered_share(scores, codes, 0.9), standard_error(scores, codes)
    mean = scores.mean()
    for end in (share.low, share.high):
        own = error * (end * (1 - end) / (mean * (1 - mean))) ** 0.5
        assert abs(end - mean) == pytest.approx(t.ppf(0.95, 3) * own)
    assert 0 < share.low < mean < share.high < 1


def test_a_share_that_never_varies_lies_between_0_and_1():
    for value in (0.0, 1.0):
        share, plain = clustered_share(np.full(9, value), np.arange(9)), wilson(round(9 * value), 9)
        assert (share.low, share.high) == pytest.approx((plain.low, plain.high))


def test_of_tied_values_half_count_as_below():
    assert mid_quantiles(np.array([0.0, 0, 1, 1]), (0.25, 0.5, 0.75)) == (0, 0.5, 1)
    assert mid_quantiles(np.array([0.0, 1, 1, 1]), (0.125, 0.625)) == (0, 1)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (7, 2), (6, 7), (530, 470), (4, 4)])
def test_mcnemars_mid_p_is_that_of_the_binomial_distribution(first, second):
    n, few = first + second, min(first, second)
    exact = 1.0 if first == second else 2 * binom.cdf(few - 1, n, 0.5) + binom.pmf(few, n, 0.5)
    assert mcnemar_mid_p(first, second) == pytest.approx(exact, rel=1e-9)


def test_mcnemars_test_of_more_than_a_thousand_items_is_normal():
    assert mcnemar_mid_p(540, 461) == pytest.approx(2 * norm.sf(79 / 1001**0.5), rel=1e-12)


def test_which_test_is_used():
    right = np.array([1.0, 0, -1, 1])
    assert paired_test(right, np.arange(4)).method == "McNemar's test, mid-p"
    assert paired_test(0.5 * right, np.arange(4)).method == "McNemar's test, mid-p"
    assert paired_test(np.array([1.0, 0.5]), np.arange(2)).method.startswith("permutation test over items")
    assert paired_test(right, np.array([0, 0, 1, 2])).method.startswith("permutation test over clusters")
    assert paired_test(np.arange(1, 14.0), np.arange(13)).method.endswith("all sign flips, mid-p")
    assert paired_test(np.arange(1, 15.0), np.arange(14)).method.endswith("items, mid-p")


def test_listed_flips_are_those_of_a_brute_force():
    differences, codes = np.array([2.0, 1, 1, -1, 0.5, 3, 0, -2]), np.array([0, 0, 1, 2, 3, 4, 5, 4])
    sums = [3.0, 1.0, -1.0, 0.5, 1.0, 0.0]
    totals = [abs(np.dot(signs, sums)) for signs in itertools.product((1, -1), repeat=6)]
    p = (sum(one > 4.5 for one in totals) + sum(one == 4.5 for one in totals) / 2) / 64
    assert paired_test(differences, codes).p == pytest.approx(p)
    balanced = np.array([1.0, -1, 1, -1])  # no cluster differs
    assert paired_test(balanced, np.array([0, 0, 1, 1])).p == 1.0


def test_drawn_flips_have_the_p_value_of_the_binomial_distribution():
    clusters = np.append(np.arange(20), 0)  # an item more than clusters, so that flips are drawn
    differences = np.append(np.repeat([1.0, -1.0], [14, 6]), 0.0)
    drawn = paired_test(differences, clusters)
    assert drawn.method == "permutation test over clusters, mid-p"
    assert drawn.p == pytest.approx(mcnemar_mid_p(14, 6), abs=0.008)
    assert drawn.p != paired_test(differences, clusters, seed=1).p


def test_flips_are_drawn_in_pieces_and_all_are_counted(monkeypatch):
    """The sum of these is 0, so every flip but two of 16,384 is more extreme."""
    differences = np.random.default_rng(1).normal(size=14)
    differences -= differences.mean()
    assert paired_test(differences, np.arange(14), flips=9).p == pytest.approx(0.95)
    assert paired_test(differences, np.arange(14), flips=1).p == pytest.approx(0.75)
    monkeypatch.setattr("deadpan.stats.paired.CELLS_AT_ONCE", 4 * 14)
    assert paired_test(differences, np.arange(14), flips=9).p == pytest.approx(0.95)
    monkeypatch.setattr("deadpan.stats.paired.CELLS_AT_ONCE", 1)
    assert paired_test(differences, np.arange(14), flips=9).p == pytest.approx(0.95)
    with pytest.raises(ConfigError, match="sign flips"):
        paired_test(differences, np.arange(14), flips=0)


def test_the_normal_limit_begins_above_many(monkeypatch):
    differences, clusters = np.random.default_rng(2).normal(0.2, 1, 30), np.arange(30)
    before, p = paired_interval(differences, clusters, resamples=500), paired_test(differences, clusters)
    monkeypatch.setattr("deadpan.stats.paired.MANY", 30)
    assert paired_interval(differences, clusters, resamples=500) == before
    assert paired_test(differences, clusters) == p
    monkeypatch.setattr("deadpan.stats.paired.MANY", 29)
    mean, error = differences.mean(), differences.std(ddof=1) / 30**0.5
    limit = paired_interval(differences, clusters, level=0.9)
    assert (limit.low, limit.high) == pytest.approx(norm.interval(0.9, mean, error))
    size = abs(differences.sum()) / np.sqrt(differences @ differences)
    assert paired_test(differences, clusters).p == pytest.approx(2 * norm.sf(size))


def test_the_seed_is_0_unless_another_is_given():
    first, second = np.random.default_rng(6).random((2, 30))
    found = [
        compare_paired(first, second, np.arange(30), resamples=200, **seed)
        for seed in ({}, {"seed": 0}, {"seed": 1})
    ]
    assert found[0] == found[1] != found[2]
    differences = first - second
    assert paired_interval(differences, np.arange(30), resamples=200) == found[0].difference
    assert paired_test(differences, np.arange(30)) == found[0].test
