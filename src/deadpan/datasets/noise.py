"""Label noise by confident learning, and how far it can be trusted on this corpus.

Confident learning (Northcutt et al. 2021) calls a label an error if a held-out model is as sure of the other
label as it usually is of examples that have it. With a weak model it flags what is merely hard. So errors are
planted too: labels flipped at random, which the same procedure should find. Where it does not, the page says
that its findings are not evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.datasets.overlaps import clip_line
from deadpan.errors import DataError
from deadpan.probes import clusters_of, fold_numbers, held_out_scores, word_matrix
from deadpan.records import Example
from deadpan.stats.interval import BoolArray, FloatArray, Interval, wilson
from deadpan.stats.ranking import area_under_curve

# Share of labels that are flipped to measure the procedure.
_PLANTED = 0.05

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
    `estimate` corrects the share flagged by both, and is None where they are too close.
    """

    flagged: Interval
    found: Interval
    false_alarms: Interval
    auc: float
    estimate: float | None
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
    rng = np.random.default_rng(seed)
    planted = rng.random(len(rows)) < _PLANTED
    flipped = labels ^ planted
    again = held_out_scores(matrix, flipped, fold_numbers(clusters, seed), strength=4.0)
    flagged, margins = confident_errors(flipped, again)
    found, alarms = _share(flagged[planted]), _share(flagged[~planted])
    ranked = np.argsort(-margin)
    errors = tuple(
        LabelError(rows[at].id, clip_line(rows[at].response.text), bool(labels[at]), float(margin[at]))
        for at in ranked[: int(suspected.sum())]
        if suspected[at]
    )
    auc = area_under_curve(planted, margins) if planted.any() else 0.5
    noise = LabelNoise(_share(suspected), found, alarms, auc, _estimate(suspected, found, alarms), errors, len(rows))
    return noise, Cartography(tuple(e.id for e in rows), own.mean(axis=0), own.std(axis=0), labels)


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


def _estimate(suspected: BoolArray, found: Interval, alarms: Interval) -> float | None:
    """Return the share of errors that would be flagged this often (Rogan and Gladen 1978)."""
    hit, miss = found.value, alarms.value
    if hit is None or miss is None or hit - miss < 0.2:
        return None
    return float(min(max((suspected.mean() - miss) / (hit - miss), 0.0), 1.0))
