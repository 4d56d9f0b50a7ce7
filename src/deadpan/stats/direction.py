"""Losses, the scores where lower is better, and what they mean for an order and a verdict."""

from __future__ import annotations

import math

from deadpan.stats.interval import Interval

LOSSES = frozenset({"brier"})
"""Scores of errors: the lower, the better. All others are better the higher they are."""


MAIN_SCORES = ("pair_accuracy", "balanced_accuracy", "f1")
"""Scores by which a result is told in one sentence: the first one that it has."""
_WORDS = {
    "f1": "F1", "macro_f1": "macro F1", "weighted_f1": "weighted F1", "sequence_f1": "sequence F1",
    "auc": "AUC", "brier": "Brier score",
}  # fmt: skip
"""Scores whose name is not their words."""


def metric_words(metric: str) -> str:
    """Return the name of a score as people write it."""
    name = metric.removesuffix("_not")
    words = _WORDS.get(name, name.replace("_", " "))
    return words if name == metric else f"{words}, sincere class"


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
