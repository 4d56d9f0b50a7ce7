"""Losses, the scores where lower is better, and what they mean for an order and a verdict."""

from __future__ import annotations

import math

from deadpan.stats.interval import Interval

LOSSES = frozenset({"brier"})
"""Scores of errors: the lower, the better. All others are better the higher they are."""


def is_loss(metric: str) -> bool:
    """Return whether lower values of a score are better."""
    return metric in LOSSES


def merit(metric: str, value: float | None) -> float:
    """Return a number that is higher for the better of two values of a score; an undefined one is worst."""
    if value is None:
        return -math.inf
    return -value if is_loss(metric) else value


def beats(metric: str, score: Interval, constant: float | None) -> bool:
    """Return whether a score is significantly better than a constant answer's; True if that is not known."""
    if constant is None or score.low is None or score.high is None:
        return True
    return score.high < constant if is_loss(metric) else score.low > constant


def with_direction(metric: str, words: str = "") -> str:
    """Return the name of a score, or other words for it, and for a loss that lower is better."""
    return f"{words or metric} (lower is better)" if is_loss(metric) else words or metric
