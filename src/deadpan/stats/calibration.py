"""Scores as probabilities: are 80 % of those scored 0.8 sarcastic, and how near are they to people's votes?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from deadpan.arguments import check_labels, check_list, check_seed, check_text, check_whole
from deadpan.errors import ConfigError, DataError
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


Binning = Literal["width", "mass"]
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One row of a reliability table: scores from `low` to `high` and the share sarcastic."""

    low: float
    high: float
    n: int
    mean_score: float
    share_sarcastic: float


@dataclass(frozen=True, slots=True)
class Calibration(Result):
    """Brier score, expected calibration error by both binnings, and the equal-width reliability table.

    All None and empty, with the reason in `why`, where the scores are missing or are no probabilities.
    """

    n: int
    brier: float | None
    ece_width: float | None
    ece_mass: float | None
    reliability: tuple[Bin, ...]
    why: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        if self.brier is None:
            return Summary(notes=(f"Calibration is undefined: {self.why}.",))
        errors = (
            ("Brier score", self.brier),
            ("Expected calibration error (bins of equal width)", self.ece_width),
            ("Expected calibration error (bins of equal size)", self.ece_mass),
        )
        bins = tuple((b.low, b.high, b.n, b.mean_score, b.share_sarcastic) for b in self.reliability)
        columns = ("score from", "to", "n", "mean score", "share sarcastic")
        tables = (Table(("Calibration", "value"), errors), Table(columns, bins, "Reliability"))
        return Summary(tables, (f"{self.n:,} examples have a score.",))


def check_probabilities(truth: Sequence[bool], scores: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Return truth and scores as arrays if the scores can be probabilities."""
    labels = np.array(check_labels(truth, "truth"), dtype=np.float64)
    try:
        values = np.array(check_list(scores, "scores"), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("scores must be numbers from 0 to 1: remove examples without a score") from None
    if labels.shape != values.shape:
        raise DataError(f"calibration needs one score per example: got {len(labels)} examples, {len(values)} scores")
    if not labels.size:
        raise DataError("calibration needs at least one score: got none")
    if np.isnan(labels).any():
        raise DataError("calibration needs a label for every example: remove examples without one")
    if np.isnan(values).any():
        raise DataError(f"scores must be numbers: {int(np.isnan(values).sum())} of {values.size} are NaN")
    if values.min() < 0 or values.max() > 1:
        raise DataError(f"calibration needs scores from 0 to 1: they range from {values.min():g} to {values.max():g}")
    return labels, values


def brier(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the Brier score: the mean squared difference between the score and the truth as 0 or 1."""
    labels, values = check_probabilities(truth, scores)
    return float(np.mean((values - labels) ** 2))


def reliability(
    truth: Sequence[bool], scores: Sequence[float], bins: int = BINS, by: Binning = "width"
) -> tuple[Bin, ...]:
    """Return the non-empty bins, of equal width or of equal size; a bin includes its upper edge.

    Equal scores always share a bin, so the table does not depend on the order of rows; with many ties
    the sizes are only about equal.
    """
    labels, values = check_probabilities(truth, scores)
    check_whole(bins, "the number of bins", 1)
    edges = np.linspace(0, 1, bins + 1)
    if check_text(by, "by") == "mass":
        edges = np.unique(np.quantile(values, edges))
    elif by != "width":
        raise ConfigError(f"unknown binning {by!r}: choose from width, mass")
    if len(edges) == 1:
        edges = np.repeat(edges, 2)
    places = np.searchsorted(edges[1:-1], values)
    rows = []
    for place in np.unique(places):
        inside = places == place
        rows.append(
            Bin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                n=int(inside.sum()),
                mean_score=float(values[inside].mean()),
                share_sarcastic=float(labels[inside].mean()),
            )
        )
    return tuple(rows)


def expected_calibration_error(
    truth: Sequence[bool], scores: Sequence[float], bins: int = BINS, by: Binning = "width"
) -> float:
    """Return the mean difference between a bin's mean score and its share sarcastic, weighted by its size."""
    rows = reliability(truth, scores, bins, by)
    total = sum(row.n for row in rows)
    return sum(row.n / total * abs(row.mean_score - row.share_sarcastic) for row in rows)


def calibrate(truth: Sequence[bool], scores: Sequence[float | None], bins: int = BINS) -> Calibration:
    """Return Brier score, calibration errors and reliability table of the rows that have a score."""
    truth, scores = check_labels(truth, "truth"), check_list(scores, "scores")
    if len(truth) != len(scores):
        raise DataError(f"calibration needs one score per example: got {len(truth)} examples, {len(scores)} scores")
    kept = [(label, score) for label, score in zip(truth, scores, strict=True) if score is not None]
    if not kept:
        return Calibration(0, None, None, None, (), "no prediction has a score")
    labels, values = [label for label, _ in kept], [score for _, score in kept]
    if bad := [score for score in values if not isinstance(score, int | float | np.number)]:
        raise DataError(f"scores must be numbers or None: got {bad[0]!r}")
    if min(values) < 0 or max(values) > 1:
        why = f"scores range from {min(values):g} to {max(values):g}: they are not probabilities"
        return Calibration(len(kept), None, None, None, (), why)
    return Calibration(
        n=len(kept),
        brier=brier(labels, values),
        ece_width=expected_calibration_error(labels, values, bins, "width"),
        ece_mass=expected_calibration_error(labels, values, bins, "mass"),
        reliability=reliability(labels, values, bins, "width"),
    )


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
        scores = {name: value.as_dict() for name, value in self.scores.items()}
        return {"scores": scores, "constant": self.constant, "floor": self.floor, "n": self.n}

    def summary(self) -> Summary:
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
