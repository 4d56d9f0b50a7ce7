"""Power of a paired comparison: what it can detect, and how many items would settle it.

All figures use the normal approximation with the standard error of the observed mean difference, which
already contains the clusters and the correlation of the two systems.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from deadpan.errors import ConfigError
from deadpan.stats.interval import LEVEL, check_level

POWER = 0.8
"""The power by which a detectable difference and a number of items are stated."""

POINTS = (0.02, 0.05, 0.10)
"""Differences whose power is reported: 2, 5 and 10 points of a score from 0 to 1."""

_NORMAL = NormalDist()


def minimum_detectable_difference(standard_error: float, level: float = LEVEL, power: float = POWER) -> float:
    """Return the difference that is found significant with this power."""
    _check(standard_error, power)
    return (_NORMAL.inv_cdf((1 + check_level(level)) / 2) + _NORMAL.inv_cdf(power)) * standard_error


def power_to_detect(difference: float, standard_error: float, level: float = LEVEL) -> float:
    """Return the probability that a true difference of this size is found significant."""
    _check(standard_error, POWER)
    if standard_error == 0:
        return 1.0 if difference else 1 - level
    z, effect = _NORMAL.inv_cdf((1 + check_level(level)) / 2), abs(difference) / standard_error
    return _NORMAL.cdf(effect - z) + _NORMAL.cdf(-effect - z)


def items_needed(
    difference: float, standard_error: float, n: int, level: float = LEVEL, power: float = POWER
) -> int | None:
    """Return how many items like the `n` observed detect this difference; None for a difference of 0."""
    if not difference:
        return None
    detectable = minimum_detectable_difference(standard_error, level, power)
    return math.ceil(n * (detectable / abs(difference)) ** 2)


def expanded_tail(clusters: int, level: float = LEVEL) -> float:
    """Return the percentile at which a bootstrap interval of a mean ends, corrected for few clusters.

    A bootstrap draws with the variance that divides by n, and has normal, not t tails.
    """
    return _NORMAL.cdf(-t_quantile(clusters, level) * math.sqrt(clusters / (clusters - 1)))


def t_quantile(clusters: int, level: float = LEVEL) -> float:
    """Return how many standard errors over clusters a two-sided t interval reaches to each side."""
    from scipy.stats import t

    return float(t.ppf((1 + check_level(level)) / 2, clusters - 1))


def _check(standard_error: float, power: float) -> None:
    if not standard_error >= 0:
        raise ConfigError(f"a standard error is a number of at least 0: got {standard_error!r}")
    if not 0 < power < 1:
        raise ConfigError(f"power is between 0 and 1, such as 0.8: got {power!r}")
