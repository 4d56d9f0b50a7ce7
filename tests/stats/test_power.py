"""Power of paired comparisons against statsmodels and by hand."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError
from deadpan.stats.power import (
    expanded_tail,
    items_needed,
    minimum_detectable_difference,
    power_to_detect,
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
    with pytest.raises(ConfigError, match="power is between"):
        minimum_detectable_difference(0.1, power=2)
