"""Intervals: Wilson's against statsmodels, and what is undefined says why."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from deadpan.errors import ConfigError, DataError
from deadpan.stats import Interval, wilson
from deadpan.stats.interval import (
    SAME_EVERYWHERE,
    check_level,
    interval_name,
    percentile_interval,
    undefined,
    unvaried_interval,
)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_statsmodels_and_holds_the_value(counts: tuple[int, int]) -> None:
    successes, n = counts
    found = wilson(successes, n)
    low, high = proportion_confint(successes, n, method="wilson")
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)
    assert found.value is not None and found.low is not None and found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_wilson_of_nothing_is_undefined_and_of_nonsense_an_error() -> None:
    assert wilson(0, 0) == Interval(None, None, None, 0.95, 0, "no trials")
    with pytest.raises(DataError, match="5 of 4"):
        wilson(5, 4)
    with pytest.raises(ConfigError, match=r"0\.95"):
        wilson(1, 4, level=95)


def test_an_interval_cannot_hold_nan() -> None:
    with pytest.raises(ValueError, match="never NaN"):
        Interval(math.nan, None, None, 0.95, 3)


def test_undefined_resamples_are_left_out_and_said() -> None:
    found = percentile_interval(0.5, np.array([0.4, np.nan, 0.6, np.nan]), 10)
    assert (found.value, found.n) == (0.5, 10)
    assert found.low is not None and 0.4 <= found.low < 0.5
    assert found.why == "2 of 4 resamples undefined, left out"
    nothing = percentile_interval(0.5, np.array([np.nan]), 10)
    assert nothing.low is None and "no resample" in nothing.why


def test_the_bounds_are_the_percentiles() -> None:
    replicates = np.random.default_rng(0).permutation(np.linspace(0, 1, 1001))
    for level in (0.95, 0.8):
        found = percentile_interval(0.5, replicates, 10, level)
        assert (found.low, found.high) == pytest.approx(((1 - level) / 2, (1 + level) / 2))
        assert (found.level, found.why) == (level, "")


def test_the_interval_is_widened_to_hold_the_value() -> None:
    found = percentile_interval(0.9, np.linspace(0.1, 0.5, 101), 10)
    assert found.high == 0.9
    assert found.low == pytest.approx(0.11)


def test_an_interval_reads_as_text_and_as_json() -> None:
    assert str(Interval(0.6163, 0.55, 0.6789, 0.95, 459)) == "0.616 [0.550, 0.679]"
    assert str(Interval(0.5, None, None, 0.95, 2, "one cluster only: no interval")) == "0.500"
    assert str(Interval(None, None, None, 0.95, 2, "no sequences")) == "undefined (no sequences)"
    assert Interval(0.5, 0.4, 0.6, 0.9, 7).as_dict() == {
        "value": 0.5, "low": 0.4, "high": 0.6, "level": 0.9, "n": 7, "why": "",
    }  # fmt: skip


def test_where_no_resample_differs_the_interval_is_wilsons_never_of_width_0() -> None:
    replicates = np.ones(100)
    found = percentile_interval(1.0, replicates, 60, clusters=20, limits=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((wilson(20, 20).low, 1.0))
    assert (found.n, found.why) == (60, SAME_EVERYWHERE)
    difference = percentile_interval(0.0, 0 * replicates, 60, clusters=20, limits=(-1.0, 1.0))
    assert difference.high == pytest.approx(wilson(0, 20).high) == -(difference.low or 0)
    unknown = percentile_interval(5.0, 5 * replicates, 60)
    assert (unknown.low, unknown.high, unknown.why) == (None, None, SAME_EVERYWHERE)


def test_without_clusters_or_limits_an_unvaried_interval_has_no_ends() -> None:
    for clusters, limits in ((5, None), (0, (0.0, 1.0))):
        found = unvaried_interval(1.0, clusters, 5, limits=limits)
        assert (found.low, found.high) == (None, None)
    assert unvaried_interval(1.0, 1, 1, limits=(0.0, 1.0)).low == pytest.approx(wilson(1, 1).low)
    assert percentile_interval(1.0, np.ones(9), 5, limits=(0.0, 1.0)).low is None


def test_an_undefined_value_has_a_reason() -> None:
    assert percentile_interval(math.nan, np.ones(9), 5).why == "undefined on these data"
    assert percentile_interval(math.nan, np.ones(9), 5, why="no pairs").why == "no pairs"
    assert undefined("no trials").n == 0


def test_a_level_lies_between_0_and_1_and_names_the_interval() -> None:
    for wrong in (0, 1, 1.5, -0.5):
        with pytest.raises(ConfigError, match="between 0 and 1"):
            check_level(wrong)
    assert interval_name(0.9) == "90 % confidence interval"
    assert str(Interval(0.5, 0.4, None, 0.95, 3)) == "0.500"


def test_a_few_resamples_that_differ_do_not_make_an_interval_of_width_0() -> None:
    replicates = np.array([0.0] * 16 + [1.0] * 984)  # 1.6 %: where a resample of six rows has no positive one
    found = percentile_interval(1.0, replicates, 6, clusters=6, limits=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((wilson(6, 6).low, 1.0))
    assert found.why == f"nearly {SAME_EVERYWHERE}"
    spread = percentile_interval(1.0, np.array([0.0] * 40 + [1.0] * 960), 6, clusters=6, limits=(0.0, 1.0))
    assert (spread.low, spread.high, spread.why) == (0.0, 1.0, "")
