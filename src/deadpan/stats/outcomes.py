"""Predictions matched with their examples by id, ready to score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

from deadpan.arguments import check_examples, check_predictions
from deadpan.duplicates import copy_key
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.registry import unknown
from deadpan.stats import scores
from deadpan.stats.interval import FloatArray, IntArray, cluster_codes
from deadpan.stats.scores import pair_columns, sequence_columns, why_not_pairs
from deadpan.text import plural

Block = Literal["confusion", "pairs", "sequences", "brier", "auc"]
"""A block of scores that are functions of the same column sums."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 1 as a function of column sums (... x columns).

    `whole` is what it divides by (... x parts): rows where that is 0 say nothing about the score.
    """

    block: Block
    of: Callable[[FloatArray], FloatArray]
    whole: Callable[[FloatArray], FloatArray]


def _of_table(score: Callable[[FloatArray], FloatArray], *wholes: Callable[[FloatArray], FloatArray]) -> Score:
    def whole(sums: FloatArray) -> FloatArray:
        tables = sums.reshape(*sums.shape[:-1], 2, 3)
        return np.stack([part(tables) for part in wholes], axis=-1)

    return Score("confusion", lambda sums: score(sums.reshape(*sums.shape[:-1], 2, 3)), whole)


def _mean(block: Block, column: int) -> Score:
    """Return the sum of a column divided by the sum of the block's last one, which counts."""
    return Score(
        block, lambda sums: scores.share(sums[..., column], sums[..., -1], np.nan), lambda sums: sums[..., -1:]
    )


def _all(tables: FloatArray) -> FloatArray:
    everything: FloatArray = tables.sum(axis=(-2, -1))
    return everything


def _predicted(side: int) -> Callable[[FloatArray], FloatArray]:
    return lambda tables: tables[..., :, side].sum(axis=-1)


def _cases(side: int) -> Callable[[FloatArray], FloatArray]:
    return lambda tables: tables[..., side, :].sum(axis=-1)


def _either(side: int) -> Callable[[FloatArray], FloatArray]:
    """Return the function that counts what is of a class or was predicted to be, as F1 does."""
    return lambda tables: tables[..., :, side].sum(axis=-1) + tables[..., side, :].sum(axis=-1)


def _placements_sum(sums: FloatArray) -> FloatArray:
    """Return the AUC of the sums of `placement_columns`."""
    either = [scores.share(sums[..., side], sums[..., 2 + side], np.nan) for side in (0, 1)]
    return either[0] + either[1]


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "accuracy": _of_table(scores.accuracy, _all),
        "balanced_accuracy": _of_table(scores.balanced_accuracy, _cases(0), _cases(1)),
        "precision": _of_table(scores.precision, _predicted(1)),
        "recall": _of_table(scores.recall, _cases(1)),
        "f1": _of_table(scores.f1, _either(1)),
        "precision_not": _of_table(partial(scores.precision, sarcastic=False), _predicted(0)),
        "recall_not": _of_table(partial(scores.recall, sarcastic=False), _cases(0)),
        "f1_not": _of_table(partial(scores.f1, sarcastic=False), _either(0)),
        "macro_f1": _of_table(scores.macro_f1, _either(0), _either(1)),
        "weighted_f1": _of_table(scores.weighted_f1, _all),
        "pair_accuracy": _mean("pairs", 0),
        "sequence_precision": _mean("sequences", 0),
        "sequence_recall": _mean("sequences", 1),
        "sequence_f1": _mean("sequences", 2),
        "brier": _mean("brier", 0),
        "auc": Score("auc", _placements_sum, lambda sums: sums[..., 2:]),
    }
)
"""Every score by name. `precision`, `recall` and `f1` are of the sarcastic class, `_not` of the other."""


def score_named(name: str) -> Score:
    """Return the score of that name, or raise an error that lists the names."""
    if not isinstance(name, str) or name not in SCORES:
        raise ConfigError(unknown("metric", name, SCORES))
    return SCORES[name]


def check_fits(metric: str, examples: Sequence[Example], where: str = "") -> None:
    """Raise an error if the examples do not allow a score, before anything is trained or asked."""
    labelled = [(e.label, e.sequence) for e in check_examples(examples) if e.label is not None]
    truth, sequences = [label for label, _ in labelled], [sequence for _, sequence in labelled]
    not_pairs = why_not_pairs(truth, sequences)
    why: dict[Block, str] = {
        "pairs": "no pairs: no example has a sequence" if not any(sequences) else not_pairs,
        "sequences": "" if any(sequences) else "no example has a sequence",
    }
    if reason := why.get(score_named(metric).block, ""):
        others = [name for name, score in SCORES.items() if not why.get(score.block)]
        raise ConfigError(
            f"{where and f'{where}: '}{metric} cannot be computed ({reason}): choose from {', '.join(others)}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The labelled examples and one system's answers, in the order of the examples."""

    truth: list[bool]
    answers: list[bool | None]
    scores: list[float | None]
    sequences: list[str]
    clusters: IntArray
    n_unlabelled: int
    n_copies: int = 0

    @property
    def n_unread(self) -> int:
        """Number of unread answers: wrong in every accuracy, and counted separately."""
        return sum(answer is None for answer in self.answers)

    def why_not(self, block: Block) -> str:
        """Return why the scores of a block are undefined; empty if they are defined."""
        if not self.truth:
            return "no labelled examples"
        if block == "pairs":
            return why_not_pairs(self.truth, self.sequences)
        if block == "sequences" and not any(self.sequences):
            return "no sequences"
        given = [score for score in self.scores if score is not None]
        if block in ("brier", "auc") and not given:
            return "no prediction has a score"
        known = {label for label, score in zip(self.truth, self.scores, strict=True) if score is not None}
        if block == "auc" and len(known) < 2:
            return "only one class in the truth"
        if block == "brier" and (min(given) < 0 or max(given) > 1):
            return f"scores range from {min(given):g} to {max(given):g}: they are not probabilities"
        return ""

    def columns(self, block: Block) -> FloatArray:
        """Return the block's columns, one row per example."""
        if block == "confusion":
            return scores.confusion_columns(self.truth, self.answers)
        if block == "pairs":
            return pair_columns(self.truth, self.answers, self.scores, self.sequences)
        if block == "sequences":
            return sequence_columns(self.truth, self.answers, self.sequences)
        if block == "auc":
            return scores.placement_columns(self.truth, self.scores)
        has_score = np.array([score is not None for score in self.scores])
        values = np.array([0.0 if score is None else score for score in self.scores])
        return np.stack([np.where(has_score, (values - self.truth) ** 2, 0.0), has_score], axis=1)


def match(examples: Sequence[Example], predictions: Sequence[Prediction]) -> Outcomes:
    """Match predictions with their examples by id; examples without a label are excluded and counted.

    Rows that share a group or a sequence are one cluster, and so are copies among the other rows: twenty
    copies of a text are one observation.
    """
    examples, predictions = check_examples(examples), check_predictions(predictions)
    _refuse_doubles("examples", (example.id for example in examples))
    _refuse_doubles("predictions", (prediction.example_id for prediction in predictions))
    by_id = {prediction.example_id: prediction for prediction in predictions}
    missing = [example.id for example in examples if example.id not in by_id]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(examples)} examples have no prediction, first {missing[0]!r}: "
            "predict all of them, or score only those that were predicted"
        )
    known = {example.id for example in examples}
    extra = [prediction.example_id for prediction in predictions if prediction.example_id not in known]
    if extra:
        raise DataError(
            f"{plural(len(extra), 'prediction')} without an example, first {extra[0]!r}: "
            "score them against the examples they were made from"
        )
    nan = [p.example_id for p in predictions if p.score is not None and math.isnan(p.score)]
    if nan:
        raise DataError(
            f"{plural(len(nan), 'prediction')} with a score that is NaN, first {nan[0]!r}: use None for no score"
        )
    labelled = [(example, example.label) for example in examples if example.label is not None]
    copies = _copies([example for example, _ in labelled])
    return Outcomes(
        truth=[label for _, label in labelled],
        answers=[by_id[example.id].label for example, _ in labelled],
        scores=[by_id[example.id].score for example, _ in labelled],
        sequences=[example.sequence for example, _ in labelled],
        clusters=cluster_codes([e.group for e, _ in labelled], [e.sequence for e, _ in labelled], copies),
        n_unlabelled=len(examples) - len(labelled),
        n_copies=sum(map(bool, copies)) - len({key for key in copies if key}),
    )


def _copies(examples: Sequence[Example]) -> list[str]:
    """Return a key that copies of an example share; empty where a group or a sequence says what belongs.

    If all texts are the same, they stand for texts that are not given.
    """
    keys = ["" if e.group or e.sequence else copy_key(e) for e in examples]
    return keys if len({key for key in keys if key}) > 1 else [""] * len(keys)


def _refuse_doubles(noun: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    doubles = []
    for id_ in ids:
        if id_ in seen:
            doubles.append(id_)
        seen.add(id_)
    if doubles:
        raise DataError(f"{len(doubles)} {noun} repeat an id, first {doubles[0]!r}: ids must be unique")
