"""Power of paired comparisons against statsmodels and by hand."""

from __future__ import annotations

import pytest
from scipy.stats import norm, t

from deadpan.errors import ConfigError
from deadpan.stats.power import (
    POINTS,
    expanded_tail,
    items_needed,
    minimum_detectable_difference,
    power_to_detect,
    t_quantile,
)


def test_power_is_that_of_a_z_test():
    from statsmodels.stats.power import NormalIndPower

    theirs = NormalIndPower(ddof=0).power(0.05 / 0.45, nobs1=400, alpha=0.05, ratio=0)
    assert power_to_detect(0.05, 0.45 / 20) == pytest.approx(theirs, abs=1e-6)


def test_a_detectable_difference_is_detected_with_its_power():
    assert power_to_detect(minimum_detectable_difference(0.02), 0.02) == pytest.approx(0.8, abs=1e-4)
    assert items_needed(minimum_detectable_difference(0.02), 0.02, 400) in (400, 401)
    assert items_needed(0.0, 0.02, 400) is None


def test_tails_move_outwards_for_few_clusters():
    assert expanded_tail(5) < expanded_tail(50) < 0.025
    assert expanded_tail(100_000) == pytest.approx(0.025, abs=1e-4)


def test_bad_input_is_one_line():
    with pytest.raises(ConfigError, match="standard error"):
        power_to_detect(0.1, -1.0)
    for power in (0, 1, 1.5, 2):
        with pytest.raises(ConfigError, match="power is between"):
            minimum_detectable_difference(0.1, power=power)


def test_four_times_the_items_detect_half_the_difference():
    detectable = minimum_detectable_difference(0.02)
    assert items_needed(detectable / 2, 0.02, 100) in (400, 401)
    assert items_needed(-detectable / 2, 0.02, 100) in (400, 401)


def test_without_a_standard_error_every_difference_is_found_and_none_as_often_as_the_level_says():
    assert minimum_detectable_difference(0.0) == 0
    assert power_to_detect(0.1, 0.0) == 1.0
    assert power_to_detect(0.0, 0.0) == pytest.approx(0.05)
    assert power_to_detect(0.0, 0.3) == pytest.approx(0.05)  # the same, as a limit
    assert power_to_detect(2.0, 1.0) == pytest.approx(norm.sf(1.96 - 2) + norm.sf(1.96 + 2), abs=1e-4)


def test_the_tails_are_hesterbergs():
    """Section 3.3: the normal tail beyond t of n - 1 degrees, stretched by the root of n / (n - 1)."""
    assert t_quantile(5, 0.9) == pytest.approx(t.ppf(0.95, 4))
    assert expanded_tail(5, 0.9) == pytest.approx(norm.cdf(t.ppf(0.05, 4) * (5 / 4) ** 0.5))


def test_power_is_reported_for_2_5_and_10_points():
    assert POINTS == (0.02, 0.05, 0.10)
