"""Whether scores mean what they say: of those scored 0.8, are 80 % sarcastic?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from deadpan.errors import ConfigError, DataError
from deadpan.stats.interval import FloatArray

Binning = Literal["width", "mass"]
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One row of a reliability table: the scores from low to high, what they say and what is true."""

    low: float
    high: float
    n: int
    mean_score: float
    share_sarcastic: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Brier score, expected calibration error by both binnings, and the equal-width reliability table.

    All None and empty, with the reason in `why`, where the scores are missing or not probabilities.
    """

    n: int
    brier: float | None
    ece_width: float | None
    ece_mass: float | None
    reliability: tuple[Bin, ...]
    why: str = ""

    def as_dict(self) -> dict[str, object]:
        """For a manifest or --json."""
        return asdict(self)


def check_probabilities(truth: Sequence[bool], scores: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Truth and scores as arrays, if they can be calibrated at all."""
    labels, values = np.array(truth, dtype=np.float64), np.array(scores, dtype=np.float64)
    if labels.shape != values.shape:
        raise DataError(f"one score an example: {len(labels)} examples, {len(values)} scores")
    if not labels.size:
        raise DataError("calibration needs at least one score: there is none")
    if np.isnan(values).any():
        raise DataError(f"a score is not a number: {int(np.isnan(values).sum())} of {values.size} are NaN")
    if values.min() < 0 or values.max() > 1:
        raise DataError(
            f"calibration needs scores from 0 to 1: these go from {values.min():g} to {values.max():g}"
        )
    return labels, values


def brier(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """The mean squared distance between the score and the truth as 0 or 1."""
    labels, values = check_probabilities(truth, scores)
    return float(np.mean((values - labels) ** 2))


def reliability(
    truth: Sequence[bool], scores: Sequence[float], bins: int = BINS, by: Binning = "width"
) -> tuple[Bin, ...]:
    """The non-empty bins, equally wide or with equally many scores; a bin holds its upper edge.

    Equal scores always share a bin, so the table does not depend on the order of rows; with many ties
    equal mass is only approximate.
    """
    labels, values = check_probabilities(truth, scores)
    if bins < 1:
        raise ConfigError(f"a reliability table needs at least one bin: got {bins}")
    edges = np.linspace(0, 1, bins + 1)
    if by == "mass":
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
    """The mean distance between what a bin says and what is true in it, weighted by its size."""
    rows = reliability(truth, scores, bins, by)
    total = sum(row.n for row in rows)
    return sum(row.n / total * abs(row.mean_score - row.share_sarcastic) for row in rows)


def calibrate(truth: Sequence[bool], scores: Sequence[float | None], bins: int = BINS) -> Calibration:
    """Everything above for the rows that have a score, or why not."""
    kept = [(label, score) for label, score in zip(truth, scores, strict=True) if score is not None]
    if not kept:
        return Calibration(0, None, None, None, (), "no prediction has a score")
    labels, values = [label for label, _ in kept], [score for _, score in kept]
    if min(values) < 0 or max(values) > 1:
        why = f"scores go from {min(values):g} to {max(values):g}: they are not probabilities"
        return Calibration(len(kept), None, None, None, (), why)
    return Calibration(
        n=len(kept),
        brier=brier(labels, values),
        ece_width=expected_calibration_error(labels, values, bins, "width"),
        ece_mass=expected_calibration_error(labels, values, bins, "mass"),
        reliability=reliability(labels, values, bins, "width"),
    )
