"""The paired test finds planted differences, finds none where there are none, and agrees with its interval."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t, ttest_rel
from statsmodels.stats.multitest import multipletests

from deadpan.errors import ConfigError, DataError
from deadpan.stats import SCORES, holm, paired_difference, wilson
from deadpan.stats.paired import (
    MIN_DIFFERING,
    POINTS,
    Comparisons,
    items_needed,
    mean_over_clusters,
    minimum_detectable_difference,
    power_to_detect,
    t_quantile,
    t_share,
)


def scores(n: int, d: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw 0/1 scores of two systems that differ by d, with a discordance of about 0.2."""
    cell = rng.choice(4, size=n, p=[0.6, 0.1 + d / 2, 0.1 - d / 2, 0.2])
    return (cell < 2).astype(float), ((cell == 0) | (cell == 2)).astype(float)


def split(only_first: int, only_second: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores in which the systems differ on these numbers of items."""
    sign = np.repeat([1, -1, 0], [only_first, only_second, n - only_first - only_second])
    return (sign > 0).astype(float), (sign < 0).astype(float)


@pytest.mark.parametrize("degrees", [1, 1.5, 3.3, 9, 29.7, 999.5, 1e5])
def test_the_t_distribution_is_scipys(degrees):
    points = [-40.0, -3.2, -1e-3, 0.0, 0.7, 12.0]
    assert [t_share(x, degrees) for x in points] == pytest.approx(t.cdf(points, degrees), rel=1e-9)
    shares = [1e-6, 0.025, 0.2, 0.5, 0.8, 0.975, 0.9995]
    assert [t_quantile(x, degrees) for x in shares] == pytest.approx(t.ppf(shares, degrees), rel=1e-9, abs=1e-15)


def test_independent_items_have_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.1, 1, 50), rng.normal(0, 1, 50)
    found, theirs = paired_difference(first, second, level=0.9), ttest_rel(first, second)
    assert found.p == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval(0.9)
    assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high))


def test_equal_clusters_have_the_t_test_of_their_means():
    rng = np.random.default_rng(1)
    first, second, codes = rng.random(60), rng.random(60), np.repeat(np.arange(12), 5)
    means = [each.reshape(12, 5).mean(axis=1) for each in (first, second)]
    assert paired_difference(first, second, codes).p == pytest.approx(ttest_rel(*means).pvalue)


def test_copies_of_ten_items_are_ten_items():
    rng = np.random.default_rng(3)
    ten = rng.normal(0.3, 1, 10)
    copies, codes = np.repeat(ten, 40), np.repeat(np.arange(10), 40)
    alone = paired_difference(ten, np.zeros(10))
    assert paired_difference(copies, np.zeros(400), codes).p == pytest.approx(alone.p)
    assert paired_difference(copies, np.zeros(400)).p < alone.p


def test_a_cluster_with_most_items_costs_degrees_of_freedom():
    rng = np.random.default_rng(5)
    values, even = rng.normal(0.3, 1, 60), np.repeat(np.arange(10), 6)
    uneven = np.repeat(np.arange(10), [42] + [2] * 9)
    assert paired_difference(values, np.zeros(60), uneven).detectable > 1.5 * (
        paired_difference(values, np.zeros(60), even).detectable
    )


@pytest.mark.parametrize(("sizes", "icc"), [([1] * 100, 0.0), ([20] * 10, 0.8), ([10] * 12, 0.8), ([5] * 20, 0.8)])
def test_false_positives_are_near_the_level(sizes, icc):
    """Two systems of accuracy 0.7; 1,500 simulations have a standard error of 0.006."""
    rng, codes = np.random.default_rng(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    found = 0
    for _ in range(1_500):
        item = rng.normal(size=len(codes))
        first, second = (
            (item + math.sqrt(icc) * rng.normal(size=len(sizes))[codes]
             + math.sqrt(1 - icc) * rng.normal(size=len(codes)) < 0.742).astype(float)
            for _ in range(2)
        )  # fmt: skip
        found += paired_difference(first, second, codes).significant
    assert 0.035 <= found / 1_500 <= 0.065


def test_a_planted_difference_is_found():
    rng = np.random.default_rng(2)
    assert sum(paired_difference(*scores(400, 0.1, rng)).significant for _ in range(100)) > 90
    assert 10 <= sum(paired_difference(*scores(100, 0.05, rng)).significant for _ in range(100)) <= 35


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([60, 200]), st.sampled_from([0.9, 0.95]))
def test_interval_and_p_value_never_disagree(only_first, only_second, n, level):
    found = paired_difference(*split(only_first, only_second, n), level=level)
    apart = found.difference.low > 0 or found.difference.high < 0
    assert apart == (found.p < 1 - level)
    enough = only_first + only_second >= MIN_DIFFERING
    assert found.significant == (apart and enough)


@pytest.mark.parametrize(("sure", "p"), [(1.0, 2 * norm.sf(10**0.5)), (0.5, 2 * norm.sf(5**0.5))])
def test_a_difference_that_never_varies_has_wilsons_interval_and_its_p_value(sure, p):
    found = paired_difference(np.full(10, sure), np.zeros(10))
    share = wilson(0, 10).high
    assert (found.difference.low, found.difference.high) == pytest.approx(
        (sure - share * (1 + sure), sure + share * (1 - sure))
    )
    assert found.p == pytest.approx(p)
    at_zero = paired_difference(np.full(10, sure), np.zeros(10), level=1 - p)
    assert at_zero.difference.low == pytest.approx(0, abs=1e-9)
    wide = paired_difference(np.full(10, 100.0), np.zeros(10))
    assert wide.p == pytest.approx(2 * norm.sf(10**0.5)) and wide.difference.high == 100


def test_a_share_cannot_differ_by_more_than_one_and_other_scores_can():
    rng = np.random.default_rng(3)
    right, nearly, codes = np.ones(60), np.zeros(60), np.repeat([0, 1, 2], 20)
    nearly[:8] = 0.9
    assert paired_difference(right, nearly, codes).difference.high == 1
    assert paired_difference(nearly, right, codes).difference.low == -1
    assert paired_difference(2 * right, nearly - rng.random(60), codes).difference.high > 1


def test_equal_systems_and_bad_input():
    same = np.ones(5)
    result = paired_difference(same, same)
    assert (result.p, result.needed, result.verdict) == (1.0, None, "no difference found")
    assert result.difference.low == -result.difference.high < 0, "five items do not prove equality"
    with pytest.raises(DataError, match="one score of each system per item"):
        paired_difference(same, same[:3])
    with pytest.raises(DataError, match="one cluster per item"):
        paired_difference(same, same, np.arange(3))
    with pytest.raises(DataError, match="a number per item"):
        paired_difference(same, np.array([1, 0, np.nan, 1, 1]))
    with pytest.raises(ConfigError, match="confidence level"):
        paired_difference(same, same, level=95)


def test_five_items_that_differ_settle_nothing():
    few, enough = paired_difference(*split(5, 0, 1_000)), paired_difference(*split(6, 0, 1_000))
    assert few.p < 0.05 and not few.significant and not few.as_dict()["significant"]
    assert few.verdict == "not settled (they differ on 5 items only)"
    assert enough.verdict == "first is better"
    one = paired_difference(*split(1, 0, 1_000))
    assert one.verdict == "not settled (they differ on 1 item only)"


def test_nine_clusters_settle_nothing():
    for k, verdict in ((9, "not settled (9 clusters are too few)"), (10, "first is better")):
        found = paired_difference(np.ones(10 * k), np.zeros(10 * k), np.repeat(np.arange(k), 10))
        assert (found.p < 0.01, found.verdict) == (True, verdict)
    assert paired_difference(np.ones(9), np.zeros(9)).verdict == "not settled (9 items are too few)"


def test_a_comparison_says_what_was_compared_and_which_is_better():
    first, second = split(20, 0, 40)
    result = paired_difference(first, second, names=("ours", "theirs"))
    assert (result.first, result.second, result.n_clusters, result.n_differing) == ("ours", "theirs", 40, 20)
    assert (result.value_first, result.value_second, result.difference.value) == (0.5, 0.0, 0.5)
    assert (result.better, result.verdict) == ("ours", "ours is better")
    assert paired_difference(second, first, names=("theirs", "ours")).verdict == "ours is better"
    loss = paired_difference(first, second, names=("ours", "theirs"), metric="brier")
    assert loss.verdict == "theirs is better"
    assert not replace(result, p_holm=1 - result.difference.level).significant  # below it, not at it
    assert replace(result, p_holm=0.2).verdict == "not settled after Holm's correction"
    assert replace(result, p=None, p_holm=None).verdict.startswith("not settled")
    open_ = paired_difference(*split(12, 8, 100))
    assert open_.verdict == f"not settled; about {open_.needed:,} items would settle it"


def test_no_items_and_one_cluster_have_no_interval():
    none = paired_difference(np.array([]), np.array([]))
    assert (none.n_clusters, none.difference.n, none.p) == (0, 0, None)
    assert none.verdict == "undefined (no common items)" and none.value_first is None
    assert mean_over_clusters(np.array([]), np.array([], int)).why == "no common items"
    one = paired_difference(np.array([0.5, 0.7]), np.array([0.2, 0.3]), np.zeros(2, int))
    assert "one cluster" in one.difference.why and one.p is None and "not settled" in one.verdict
    assert (one.standard_error, one.detectable, one.power, one.needed) == (None, None, None, None)
    assert mean_over_clusters(np.array([0.5, 0.7]), np.zeros(2, int)).low is None
    even = paired_difference(*split(8, 8, 20))
    assert even.standard_error > 0 and even.needed is None and even.verdict == "no difference found"


def test_a_score_that_is_no_mean_is_compared_by_leaving_out_clusters():
    rng, cells = np.random.default_rng(4), np.eye(6)
    truth = np.arange(200) % 2
    first, second = (cells[truth * 3 + np.where(rng.random(200) < right, truth, 1 - truth)] for right in (0.9, 0.7))
    found = paired_difference(first, second, of=SCORES["macro_f1"].of, metric="macro_f1")
    parts = [SCORES["macro_f1"].of(first.sum(0) - a) - SCORES["macro_f1"].of(second.sum(0) - b)
             for a, b in zip(first, second, strict=True)]  # fmt: skip
    error = math.sqrt(199 / 200 * sum((part - found.difference.value) ** 2 for part in parts))
    assert found.standard_error == pytest.approx(error)
    assert found.p == pytest.approx(2 * t.sf(found.difference.value / error, 199))
    lone = np.vstack([cells[[4]], cells[[0] * 9]])
    other = np.vstack([cells[[3]], cells[[0] * 9]])
    undefined = paired_difference(lone, other, of=SCORES["macro_f1"].of)
    assert undefined.difference.why == "undefined without one of the clusters" and undefined.p is None


def test_eleven_systems_are_told_apart_after_holms_correction():
    rng = np.random.default_rng(6)
    right = [rng.random(1_000) < share for share in [0.99] + [0.5] * 10]
    found = Comparisons.adjusted(
        paired_difference(right[a].astype(float), right[b].astype(float), names=(str(a), str(b)))
        for a in range(11)
        for b in range(a + 1, 11)
    )
    assert len(found) == 55 and all(pair.significant for pair in found[:10])
    assert [pair.p_holm for pair in found] == holm([pair.p for pair in found])
    assert "Holm's method over 55 pairs" in found.method() and "not adjusted" in str(found)
    assert "0.000" not in str(found[0].summary()) and "< 0.001" in str(found)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holms_method_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


@pytest.mark.parametrize("p", [-0.1, 1.1, "small", None])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(DataError, match="from 0 to 1"):
        holm([0.5, p])
    assert holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_no_pairs_make_an_empty_table():
    assert "difference of score" in str(Comparisons(()).summary().tables[0].columns)
    assert repr(Comparisons(())) == "Comparisons(0 pairs, 0 significantly different)"


def test_the_interval_of_a_mean_is_wilsons_and_covers_near_1_in_clusters():
    share = np.repeat([1.0, 0.0], [1_900, 100])
    alone, plain = mean_over_clusters(share, np.arange(2_000)), wilson(1_900, 2_000)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=1e-4)
    assert mean_over_clusters(np.ones(9), np.arange(9)).low == pytest.approx(wilson(9, 9).low)
    rng, codes = np.random.default_rng(3), np.repeat(np.arange(100), 5)
    means = rng.beta(9.5, 0.5, (1_000, 100))  # accuracies of clusters, 0.95 on average
    found = [mean_over_clusters((rng.random(500) < row[codes]).astype(float), codes) for row in means]
    assert np.mean([one.low <= 0.95 <= one.high for one in found]) > 0.92


def test_the_interval_of_a_mean_on_another_scale_is_a_t_interval():
    values = np.array([1.0, 2, 4, 7, 9])
    found = mean_over_clusters(values, np.arange(5))
    assert (found.low, found.high) == pytest.approx(t.interval(0.95, 4, values.mean(), values.std(ddof=1) / 5**0.5))
    assert mean_over_clusters(np.full(5, 3.0), np.arange(5)).low is None


def test_power_is_that_of_a_z_test_or_of_a_t_test():
    from statsmodels.stats.power import NormalIndPower

    theirs = NormalIndPower(ddof=0).power(0.05 / 0.45, nobs1=400, alpha=0.05, ratio=0)
    assert power_to_detect(0.05, 0.45 / 20) == pytest.approx(theirs, abs=1e-6)
    assert power_to_detect(2.0, 1.0) == pytest.approx(norm.sf(1.96 - 2) + norm.sf(1.96 + 2), abs=1e-4)
    assert power_to_detect(2.0, 1.0, degrees=9) == pytest.approx(t.cdf(2 - 2.2622, 9) + t.cdf(-4.2622, 9), abs=1e-4)
    assert minimum_detectable_difference(1.0, degrees=9) == pytest.approx(t.ppf(0.975, 9) + t.ppf(0.8, 9))


def test_a_detectable_difference_is_detected_with_its_power():
    detectable = minimum_detectable_difference(0.02)
    assert power_to_detect(detectable, 0.02) == pytest.approx(0.8, abs=1e-4)
    assert items_needed(detectable, 0.02, 400) in (400, 401)
    assert items_needed(-detectable / 2, 0.02, 100) in (400, 401)
    assert items_needed(0.0, 0.02, 400) is None
    found = paired_difference(*scores(400, 0.05, np.random.default_rng(1)))
    assert tuple(found.power) == POINTS == (0.02, 0.05, 0.10)
    assert found.power[0.02] < found.power[0.05] < found.power[0.1]
    assert found.detectable == pytest.approx(2.81 * found.standard_error, rel=1e-2)
    assert list(found.as_dict()["power"]) == ["0.02", "0.05", "0.1"]


def test_without_a_standard_error_every_difference_is_found_and_none_as_often_as_the_level_says():
    assert minimum_detectable_difference(0.0) == 0
    assert power_to_detect(0.1, 0.0) == 1.0
    assert power_to_detect(0.0, 0.0) == pytest.approx(0.05)
    assert power_to_detect(0.0, 0.3) == pytest.approx(0.05)  # the same, as a limit


def test_bad_power_is_one_line():
    with pytest.raises(ConfigError, match="standard error"):
        power_to_detect(0.1, -1.0)
    for power in (0, 1, 1.5, 2):
        with pytest.raises(ConfigError, match="power is between"):
            minimum_detectable_difference(0.1, power=power)
