"""ROC and precision-recall curves of scores, and the average precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.arguments import check_labels
from deadpan.errors import DataError


@dataclass(frozen=True, slots=True)
class ScoreCurves:
    """A point per distinct score, from the highest down: rates when all scores from there up are positive.

    `average_precision` is the sum of precision over the steps in recall, without interpolation.
    """

    thresholds: tuple[float, ...]
    false_positive_rate: tuple[float, ...]
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float
    share_sarcastic: float

    def as_dict(self) -> dict[str, object]:
        """Return the points as columns."""
        return {
            "thresholds": list(self.thresholds),
            "false_positive_rate": list(self.false_positive_rate),
            "recall": list(self.recall),
            "precision": list(self.precision),
            "average_precision": self.average_precision,
        }

    def thinned(self, most: int = 40) -> list[int]:
        """Return the places of at most `most` points, the first and last among them, for a drawing."""
        n = len(self.thresholds)
        return sorted({round(place) for place in np.linspace(0, n - 1, min(n, most))})


def score_curves(truth: Sequence[bool], scores: Sequence[float]) -> ScoreCurves:
    """Return the ROC and precision-recall curves; both labels must be there.

    >>> score_curves([True, False], [0.9, 0.1]).average_precision
    1.0
    """
    labels = np.array(check_labels(truth, "truth"), dtype=bool)
    values = np.array(scores, dtype=np.float64)
    if labels.shape != values.shape:
        raise DataError(f"curves need one score per example: got {len(labels)} and {len(values)}")
    if not len(labels) or labels.all() or not labels.any():
        raise DataError("curves need examples of both labels")
    order = np.argsort(-values, kind="stable")
    labels, values = labels[order], values[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # of each distinct score
    hits = np.cumsum(labels)[last].astype(np.float64)
    wrong = (last + 1) - hits
    recall, precision = hits / labels.sum(), hits / (last + 1)
    steps = np.diff(np.concatenate([[0.0], recall]))
    return ScoreCurves(
        tuple(values[last].tolist()),
        tuple((wrong / (~labels).sum()).tolist()),
        tuple(recall.tolist()),
        tuple(precision.tolist()),
        float((steps * precision).sum()),
        float(labels.mean()),
    )
