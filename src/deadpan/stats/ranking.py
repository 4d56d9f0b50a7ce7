"""Rankings: of examples by score (ROC curves, and what a shortcut explains of them), of systems by paired tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.arguments import check_labels, check_seed
from deadpan.errors import DataError
from deadpan.stats.interval import (
    LEVEL,
    ONE_CLUSTER,
    RESAMPLES,
    BoolArray,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    check_resamples,
    percentile_interval,
    resample_rows,
    undefined,
)

# Rows looked at over all resamples: of very many examples fewer resamples are enough.
_MOST_ROWS = 40_000_000
_FEWEST_RESAMPLES = 200


def area_under_curve(truth: BoolArray, scores: FloatArray) -> float:
    """Return the share of (sarcastic, sincere) pairs in the right order, a tie counting half."""
    values, place = np.unique(scores, return_inverse=True)
    return _area(truth, place, len(values), np.ones(len(truth)))


def _area(truth: BoolArray, place: IntArray, width: int, weight: FloatArray) -> float:
    """Return the area for weighted rows whose scores have been ranked; NaN where a label is missing."""
    sarcastic = np.bincount(place, weights=weight * truth, minlength=width)
    sincere = np.bincount(place, weights=weight * ~truth, minlength=width)
    total = sarcastic.sum() * sincere.sum()
    if not total:
        return float("nan")
    below = np.cumsum(sincere) - sincere
    return float((sarcastic * (below + sincere / 2)).sum() / total)


def auc_interval(
    truth: BoolArray,
    scores: FloatArray,
    clusters: IntArray,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Return the area under the ROC curve with a percentile interval that resamples whole clusters."""
    check_level(level)
    n = len(truth)
    if not n or truth.all() or not truth.any():
        return undefined("examples of both labels are needed", n, level)
    values, place = np.unique(scores, return_inverse=True)
    codes = np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    value = _area(truth, place, len(values), np.ones(n))
    if count == 1:
        return Interval(value, None, None, level, n, ONE_CLUSTER)
    rng = np.random.default_rng(seed)
    times = min(check_resamples(resamples), max(_FEWEST_RESAMPLES, _MOST_ROWS // n))
    replicates = np.empty(times)
    for at in range(times):
        drawn = np.bincount(rng.integers(count, size=count), minlength=count).astype(np.float64)
        replicates[at] = _area(truth, place, len(values), drawn[codes])
    # Every comparison needs one example of each label, so the rarer label's clusters limit what is known.
    rarer = min(len(np.unique(codes[truth])), len(np.unique(codes[~truth])))
    return percentile_interval(value, replicates, n, level, clusters=rarer, limits=(0.0, 1.0))


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


# Fewest and most strata of equal size by the shortcut's score, within which the detector is scored again.
_STRATA = (5, 50)

# Examples per stratum between the two: coarse strata would leave some of the shortcut within them.
_STRATUM_SIZE = 60

# Steps of the shortcut's range: examples of one stratum differ by less than one of them.
_STEPS = 20

_SHARE_RESAMPLES = 300
_CHANCE = 0.5
# A detector closer to chance than this has no score to explain.
_LEAST_GAIN = 0.02


@dataclass(frozen=True, slots=True)
class Explained:
    """The AUC of a detector, of a shortcut, and of the detector among examples the shortcut scores alike.

    `share` is the part of the detector's AUC above chance that disappears within strata: 0 if the shortcut
    explains nothing, 1 if nothing but the shortcut is left.
    """

    detector: float
    shortcut: float
    within: float
    share: Interval


def explained_share(
    truth: BoolArray,
    detector: FloatArray,
    shortcut: FloatArray,
    clusters: IntArray | None = None,
    *,
    resamples: int = _SHARE_RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Explained:
    """Return how much of a detector's AUC a shortcut explains.

    Both scores must come from examples that neither was trained on. The detector is scored again among
    examples with about the same score of the shortcut; what it loses there, the shortcut explains.
    """
    check_seed(seed)
    truth = np.asarray(truth, dtype=np.bool_)
    if not len(truth) == len(detector) == len(shortcut):
        raise DataError("explained_share needs one label and two scores per example")
    if not truth.any() or truth.all():
        raise DataError("explained_share needs both labels")
    whole = area_under_curve(truth, detector)
    alone = area_under_curve(truth, shortcut)
    stratum = _strata(shortcut, min(max(len(truth) // _STRATUM_SIZE, _STRATA[0]), _STRATA[1]))
    within = _within(truth, detector, stratum)
    n = len(truth)
    if whole - _CHANCE < _LEAST_GAIN:
        return Explained(whole, alone, within or _CHANCE, undefined("the detector is at chance", n, level))
    if within is None:
        everything = Interval(1.0, None, None, level, n, "the shortcut alone tells the labels apart")
        return Explained(whole, alone, _CHANCE, everything)

    def share(rows: IntArray) -> float | None:
        left, of = (_within(truth[rows], detector[rows], stratum[rows]), area_under_curve(truth[rows], detector[rows]))
        return None if left is None or of - _CHANCE < _LEAST_GAIN else 1 - (left - _CHANCE) / (of - _CHANCE)

    codes = np.arange(n) if clusters is None else clusters
    replicates = resample_rows(share, codes, resamples, seed)
    if np.isnan(replicates).mean() > (1 - level) / 2:  # a share of nearly nothing may be any number
        unclear = undefined("the detector is not clearly above chance", n, level)
        return Explained(whole, alone, within, unclear)
    value = 1 - (within - _CHANCE) / (whole - _CHANCE)
    return Explained(whole, alone, within, percentile_interval(value, replicates, n, level))


def _strata(shortcut: FloatArray, strata: int) -> IntArray:
    """Return a stratum per example: equal values are never apart, and those far apart never together.

    Strata of equal size would join the last sincere and the first sarcastic examples of a shortcut that
    tells them apart; so a stratum also ends where the score crosses a twentieth of its range.
    """
    values, place, counts = np.unique(shortcut, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    by_size = (middle / len(shortcut) * strata).astype(np.int64)
    width = max(float(values[-1] - values[0]), 1e-12) / _STEPS
    by_score = np.minimum(((values - values[0]) / width).astype(np.int64), _STEPS - 1)
    of_value: IntArray = by_size + by_score  # neither falls as values rise, so a sum stands for one pair
    return of_value[place]


def _within(truth: BoolArray, scores: FloatArray, stratum: IntArray) -> float | None:
    """Return the mean AUC within strata, weighted by their pairs of one sarcastic and one sincere example."""
    total = weight = 0.0
    for one in np.unique(stratum):
        rows = stratum == one
        pairs = float(truth[rows].sum()) * float((~truth[rows]).sum())
        if pairs:
            total += pairs * area_under_curve(truth[rows], scores[rows])
            weight += pairs
    return total / weight if weight else None


def rank_ranges(values: Mapping[str, float], better: Callable[[str, str], bool]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each system, given its score and which are significantly better.

    At best it is one after the systems that are significantly better, at worst one before those that are
    significantly worse. Significance is not transitive, so a lower score could get a better range: it is then
    widened for the higher score, and ranks never contradict scores.
    """
    best = {name: 1 + sum(better(other, name) for other in values) for name in values}
    worst = {name: len(values) - sum(better(name, other) for other in values) for name in values}
    return {
        name: (
            min(best[other] for other in values if values[other] <= values[name]),
            max(worst[other] for other in values if values[other] >= values[name]),
        )
        for name in values
    }
