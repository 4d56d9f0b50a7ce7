"""Label noise by confident learning, and how far it can be trusted on this corpus.

Confident learning (Northcutt et al. 2021) calls a label an error if a held-out model is as sure of the other
label as it usually is of examples that have it. With a weak model it flags what is merely hard. So errors are
planted too: labels flipped at random, which the same procedure should find. Where it does not, the page says
that its findings are not evidence.

How many labels are wrong is estimated from the surest held-out answers: where the text settles the label, only a
wrong label contradicts it (anchor points, Liu and Tao 2016). Since some of those texts are hard too, this is an
upper bound. Labels flipped at three rates must raise it by as much as was flipped; where they do not, there is no
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadpan.datasets.overlaps import clip_line
from deadpan.errors import DataError
from deadpan.probes import clusters_of, fold_numbers, held_out_scores, word_matrix
from deadpan.records import Example
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval, wilson
from deadpan.stats.ranking import area_under_curve

# Shares of labels that are flipped to measure the procedure, how often each, and for the list of suspects.
_PLANTED = (0.05, 0.1, 0.2)
_PLANTINGS = 2

# The surest answers, as a share of all examples, half of them for each label.
_SUREST = 0.1

# Largest root mean square error on planted rates at which an estimate is shown, and the largest estimate: where the
# surest answers contradict more labels than that, texts do not settle labels here, and nothing follows from them.
_CONFIRMED = 0.06
_SETTLED = 0.27

# Cross-validations with other folds, for the variability of a score.
_REPEATS = 3

# Least AUC of finding planted errors at which findings are worth reading.
_TRUSTED = 0.75


@dataclass(frozen=True, slots=True)
class LabelError:
    """A label that is probably wrong; `margin` is how much surer the model is of the other label."""

    id: str
    text: str
    label: bool
    margin: float


@dataclass(frozen=True, slots=True)
class LabelNoise:
    """Suspected label errors, and what the same procedure finds of errors that were planted.

    `flagged` is the share of suspected labels. `found` is the share of planted errors that were flagged,
    `false_alarms` the share of other labels that were; `auc` how well the ranking tells the two apart.
    `estimate` is the share of labels that the surest answers contradict, an upper bound of labels wrong at
    random; None where planted errors do not confirm it. `planted` has the estimates at the planted rates.
    """

    flagged: Interval
    found: Interval
    false_alarms: Interval
    auc: float
    estimate: Interval | None
    planted: tuple[tuple[float, float], ...]
    errors: tuple[LabelError, ...]
    n: int

    @property
    def trusted(self) -> bool:
        """True if planted errors are found well enough for the list to be worth reading."""
        return self.auc >= _TRUSTED


@dataclass(frozen=True, slots=True, repr=False)
class Cartography:
    """Each example's mean probability of its own label, and how much it varies between models."""

    ids: tuple[str, ...]
    confidence: FloatArray
    variability: FloatArray
    labels: BoolArray


def find_label_errors(examples: Sequence[Example], seed: int = 0) -> tuple[LabelNoise, Cartography]:
    """Return suspected label errors and the map of the examples."""
    rows = [example for example in examples if example.label is not None]
    labels = np.array([bool(example.label) for example in rows])
    if len(rows) < 50 or labels.all() or not labels.any():
        raise DataError(f"label noise needs 50 labelled examples of both labels: got {len(rows)}")
    matrix = word_matrix([example.response.text for example in rows])
    clusters = clusters_of(rows)
    runs = np.stack(
        [held_out_scores(matrix, labels, fold_numbers(clusters, seed + at), strength=4.0) for at in range(_REPEATS)]
    )
    own = np.where(labels, runs, 1 - runs)
    scores = runs.mean(axis=0)
    suspected, margin = confident_errors(labels, scores)
    trials = [_plant(matrix, labels, clusters, rate, seed + at) for rate in _PLANTED for at in range(_PLANTINGS)]
    marked, flagged, margins = (np.concatenate([getattr(t, part) for t in trials[:_PLANTINGS]])
                                for part in ("planted", "flagged", "margin"))  # fmt: skip
    found, alarms = _share(flagged[marked]), _share(flagged[~marked])
    ranked = np.argsort(-margin)
    errors = tuple(
        LabelError(rows[at].id, clip_line(rows[at].response.text), bool(labels[at]), float(margin[at]))
        for at in ranked[: int(suspected.sum())]
        if suspected[at]
    )
    auc = area_under_curve(marked, margins) if marked.any() else 0.5
    # One cross-validation, as for the planted errors: a mean of three would be surer than they are.
    estimate = _estimate(labels, runs[0], trials)
    rates = tuple((t.rate, t.contradicted) for t in trials)
    noise = LabelNoise(_share(suspected), found, alarms, auc, estimate, rates, errors, len(rows))
    return noise, Cartography(tuple(e.id for e in rows), own.mean(axis=0), own.std(axis=0), labels)


@dataclass(frozen=True, slots=True)
class _Planting:
    """Labels flipped at a rate: which, which were flagged, by what margin, and the surest answers contradicted."""

    rate: float
    planted: BoolArray
    flagged: BoolArray
    margin: FloatArray
    contradicted: float


def _plant(matrix: Any, labels: BoolArray, clusters: IntArray, rate: float, seed: int) -> _Planting:
    planted = np.random.default_rng([seed, round(1000 * rate)]).random(len(labels)) < rate
    flipped = labels ^ planted
    scores = held_out_scores(matrix, flipped, fold_numbers(clusters, seed), strength=4.0)
    flagged, margin = confident_errors(flipped, scores)
    return _Planting(rate, planted, flagged, margin, surest_contradicted(flipped, scores)[0])


def surest_contradicted(labels: BoolArray, scores: FloatArray) -> tuple[float, int]:
    """Return the share of labels that the surest answers for either label contradict, and their number."""
    at_most = max(round(_SUREST * len(labels) / 2), 1)
    wrong, total = 0.0, 0
    for label in (True, False):
        sure = scores if label else 1 - scores
        answers = np.flatnonzero(sure >= 0.5)
        top = answers[np.argsort(-sure[answers], kind="stable")][:at_most]
        if not len(top):
            return 1.0, 0
        wrong += float((labels[top] != label).mean() * (labels == label).mean())
        total += len(top)
    return wrong, total


def _estimate(labels: BoolArray, scores: FloatArray, trials: Sequence[_Planting]) -> Interval | None:
    """Return the share of contradicted labels; its interval has the error on planted rates in it."""
    share, n = surest_contradicted(labels, scores)
    # Flipping a wrong label makes it right, so rates do not simply add up.
    errors = [t.contradicted - (share + t.rate - 2 * share * t.rate) for t in trials]
    spread = float(np.sqrt(np.mean(np.square(errors))))
    by_chance = np.mean([t.contradicted * (1 - t.contradicted) for t in trials]) / max(n, 1)
    if not n or share > _SETTLED or spread**2 - by_chance > _CONFIRMED**2:
        return None
    sampling = wilson(round(share * n), n)
    below, above = share - (sampling.low or 0.0), (sampling.high or 0.0) - share
    half = 1.96 * spread
    return Interval(
        share, max(share - float(np.hypot(below, half)), 0.0), share + float(np.hypot(above, half)), 0.95, n
    )


def confident_errors(labels: BoolArray, scores: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return the suspected labels, and how much surer the model is of the other label.

    A label is suspected if the probability of the other label reaches the mean probability of that label
    among the examples that have it, and is higher than that of its own.
    """
    labels = np.asarray(labels, dtype=np.bool_)
    sure = float(scores[labels].mean()), float((1 - scores[~labels]).mean())
    other = np.where(labels, 1 - scores, scores)
    needed = np.where(labels, sure[1], sure[0])
    suspected: BoolArray = (other >= needed) & (other > 0.5)
    return suspected, 2 * other - 1


def _share(chosen: BoolArray) -> Interval:
    return wilson(int(chosen.sum()), len(chosen))
