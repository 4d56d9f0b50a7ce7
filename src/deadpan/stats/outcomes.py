"""What a system said beside what is true: examples and predictions matched by id, ready to score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.registry import unknown
from deadpan.stats import scores
from deadpan.stats.clusters import cluster_codes
from deadpan.stats.interval import FloatArray, IntArray
from deadpan.stats.sequences import pair_columns, sequence_columns, why_not_pairs

Block = Literal["confusion", "pairs", "sequences", "brier"]
"""Scores of one block are functions of the same column sums."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score as a function of column sums (... x columns)."""

    block: Block
    of: Callable[[FloatArray], FloatArray]


def _of_table(score: Callable[[FloatArray], FloatArray]) -> Score:
    return Score("confusion", lambda sums: score(sums.reshape(*sums.shape[:-1], 2, 3)))


def _mean(block: Block, column: int) -> Score:
    """The sum of a column over the block's last one, which counts."""
    return Score(block, lambda sums: scores.share(sums[..., column], sums[..., -1], np.nan))


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "accuracy": _of_table(scores.accuracy),
        "balanced_accuracy": _of_table(scores.balanced_accuracy),
        "precision": _of_table(scores.precision),
        "recall": _of_table(scores.recall),
        "f1": _of_table(scores.f1),
        "precision_not": _of_table(partial(scores.precision, sarcastic=False)),
        "recall_not": _of_table(partial(scores.recall, sarcastic=False)),
        "f1_not": _of_table(partial(scores.f1, sarcastic=False)),
        "macro_f1": _of_table(scores.macro_f1),
        "weighted_f1": _of_table(scores.weighted_f1),
        "pair_accuracy": _mean("pairs", 0),
        "sequence_precision": _mean("sequences", 0),
        "sequence_recall": _mean("sequences", 1),
        "sequence_f1": _mean("sequences", 2),
        "brier": _mean("brier", 0),
    }
)
"""Every score by name. `precision`, `recall` and `f1` are of the sarcastic class, `_not` of the other."""


def score_named(name: str) -> Score:
    """The score of that name, or an error that lists them."""
    if name not in SCORES:
        raise ConfigError(unknown("score", name, SCORES))
    return SCORES[name]


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The labelled examples, and what one system said of each. Rows are in the order of the examples."""

    truth: list[bool]
    answers: list[bool | None]
    scores: list[float | None]
    sequences: list[str]
    clusters: IntArray
    n_unlabelled: int

    @property
    def n_unread(self) -> int:
        """Answers that could not be read: wrong in every accuracy, and counted apart."""
        return sum(answer is None for answer in self.answers)

    def why_not(self, block: Block) -> str:
        """Why the scores of a block cannot be had; empty when they can."""
        if not self.truth:
            return "no labelled examples"
        if block == "pairs":
            return why_not_pairs(self.truth, self.sequences)
        if block == "sequences" and not any(self.sequences):
            return "no sequences"
        given = [score for score in self.scores if score is not None]
        if block == "brier" and not given:
            return "no prediction has a score"
        if block == "brier" and (min(given) < 0 or max(given) > 1):
            return f"scores go from {min(given):g} to {max(given):g}: they are not probabilities"
        return ""

    def columns(self, block: Block) -> FloatArray:
        """The block's columns, one row an example."""
        if block == "confusion":
            return scores.confusion_columns(self.truth, self.answers)
        if block == "pairs":
            return pair_columns(self.truth, self.answers, self.scores, self.sequences)
        if block == "sequences":
            return sequence_columns(self.truth, self.answers, self.sequences)
        has_score = np.array([score is not None for score in self.scores])
        values = np.array([0.0 if score is None else score for score in self.scores])
        return np.stack([np.where(has_score, (values - self.truth) ** 2, 0.0), has_score], axis=1)


def match(examples: Sequence[Example], predictions: Sequence[Prediction]) -> Outcomes:
    """Bring predictions to their examples by id; examples without a label are left out and counted.

    Rows sharing a group or a sequence are one cluster.
    """
    _refuse_doubles("examples", (example.id for example in examples))
    _refuse_doubles("predictions", (prediction.example_id for prediction in predictions))
    said = {prediction.example_id: prediction for prediction in predictions}
    missing = [example.id for example in examples if example.id not in said]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(examples)} examples have no prediction, first {missing[0]!r}"
        )
    known = {example.id for example in examples}
    extra = [prediction.example_id for prediction in predictions if prediction.example_id not in known]
    if extra:
        raise DataError(f"{len(extra)} predictions are of no example given, first {extra[0]!r}")
    nan = [p.example_id for p in predictions if p.score is not None and math.isnan(p.score)]
    if nan:
        raise DataError(f"{len(nan)} predictions have a score that is NaN, first {nan[0]!r}")
    labelled = [(example, example.label) for example in examples if example.label is not None]
    return Outcomes(
        truth=[label for _, label in labelled],
        answers=[said[example.id].label for example, _ in labelled],
        scores=[said[example.id].score for example, _ in labelled],
        sequences=[example.sequence for example, _ in labelled],
        clusters=cluster_codes([e.group for e, _ in labelled], [e.sequence for e, _ in labelled]),
        n_unlabelled=len(examples) - len(labelled),
    )


def _refuse_doubles(noun: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    doubles = []
    for id_ in ids:
        if id_ in seen:
            doubles.append(id_)
        seen.add(id_)
    if doubles:
        raise DataError(f"{len(doubles)} {noun} repeat an id, first {doubles[0]!r}")
