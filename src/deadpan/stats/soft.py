"""Scores against votes instead of labels: what share of people call a text sarcastic.

A text that three of five people call sarcastic is not wrong by two: the share is the truth, and a system that
answers 0.6 is right. All scores are means over items, with intervals over clusters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_list, check_seed
from deadpan.errors import DataError
from deadpan.results import Result
from deadpan.stats.interval import (
    LEVEL,
    RESAMPLES,
    FloatArray,
    IntArray,
    Interval,
    bootstrap_interval,
    check_resamples,
    clustered_mean,
)

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

LEAST = 1e-3
"""Probabilities are kept this far from 0 and 1, so that one certain answer is not an infinite loss."""

MOST = -math.log2(LEAST)
"""The largest cross-entropy of an item."""

SCORES = ("jensen_shannon", "cross_entropy", "rank_correlation")


@dataclass(frozen=True, slots=True, repr=False)
class SoftScores(Result):
    """Jensen-Shannon distance, cross-entropy (both: lower is better) and rank correlation with the votes.

    `constant` is the cross-entropy of always answering the mean share, `floor` that of the votes
    themselves: no system can do better than the disagreement between people.
    """

    scores: Mapping[str, Interval]
    constant: float
    floor: float
    n: int

    def __repr__(self) -> str:
        return f"SoftScores({self.n:,} items, cross-entropy {self.scores['cross_entropy']})"

    def as_dict(self) -> dict[str, object]:
        """Return the scores and both references."""
        scores = {name: value.as_dict() for name, value in self.scores.items()}
        return {"scores": scores, "constant": self.constant, "floor": self.floor, "n": self.n}

    def summary(self) -> Summary:
        """Return one row per score."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((name.replace("_", " "), value, value.n) for name, value in self.scores.items())
        note = (
            f"Cross-entropy in bits: {self.constant:.3f} if the mean share is always predicted, "
            f"{self.floor:.3f} for the votes themselves."
        )
        return Summary((Table(("score", "value", "n"), rows),), (note,))


def soft_scores(
    shares: Sequence[float],
    predicted: Sequence[float],
    groups: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> SoftScores:
    """Score predicted probabilities against the shares of votes for sarcasm.

    `shares` and `predicted` lie between 0 and 1; rows of one group are resampled together.
    """
    check_seed(seed)
    check_resamples(resamples)
    truth, answer = _probabilities(shares, "shares"), _probabilities(predicted, "predicted")
    if len(truth) != len(answer) or not len(truth):
        raise DataError(f"soft scores need one prediction per share: got {len(truth)} and {len(answer)}")
    distance, loss = jensen_shannon(truth, answer), cross_entropy(truth, answer)
    names = [""] * len(truth) if groups is None else check_list(groups, "groups")
    if len(names) != len(truth):
        raise DataError(f"soft scores need one group per share: got {len(names)} and {len(truth)}")

    def mean(values: FloatArray) -> Interval:
        most = (0.0, 1.0) if values is distance else (0.0, MOST)
        return clustered_mean(values, names, resamples, level, seed, most)

    correlation = bootstrap_interval(
        lambda rows: rank_correlation(truth[rows], answer[rows]), names, min(resamples, 500), level, seed,
        (-1.0, 1.0),
    )  # fmt: skip
    scores = dict(zip(SCORES, (mean(distance), mean(loss), correlation), strict=True))
    constant = float(cross_entropy(truth, np.full(len(truth), truth.mean())).mean())
    return SoftScores(scores, constant, float(cross_entropy(truth, truth).mean()), len(truth))


def jensen_shannon(truth: FloatArray, answer: FloatArray) -> FloatArray:
    """Return the Jensen-Shannon distance of two distributions over two labels: 0 if equal, at most 1."""
    middle = (truth + answer) / 2
    divergence = _entropy(middle) - (_entropy(truth) + _entropy(answer)) / 2
    distance: FloatArray = np.sqrt(np.maximum(divergence, 0.0))
    return distance


def cross_entropy(truth: FloatArray, answer: FloatArray) -> FloatArray:
    """Return the cross-entropy in bits."""
    p = np.clip(answer, LEAST, 1 - LEAST)
    bits: FloatArray = -(truth * np.log2(p) + (1 - truth) * np.log2(1 - p))
    return bits


def rank_correlation(truth: FloatArray, answer: FloatArray) -> float | None:
    """Return Spearman's rank correlation; None where one side is constant."""
    one, other = _ranks(truth), _ranks(answer)
    if float(one.std()) == 0 or float(other.std()) == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _ranks(values: FloatArray) -> FloatArray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: IntArray = np.cumsum(counts)
    mean: FloatArray = middle - (counts - 1) / 2
    return mean[place]


def _entropy(p: FloatArray) -> FloatArray:
    inside = np.clip(p, 1e-12, 1 - 1e-12)
    bits: FloatArray = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
    return bits


def _probabilities(values: Sequence[float], name: str) -> FloatArray:
    given = check_list(values, name)
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if not ((array >= 0) & (array <= 1)).all():
        raise DataError(f"{name} must be numbers between 0 and 1, one per item")
    return array
