"""Beyond yes and no: which of two, which of several, and of which kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.detector import Detector
from deadpan.detect.system import Progress, silent
from deadpan.detect.thresholds import choose_threshold
from deadpan.errors import DataError
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats.bootstrap import kinds_of_clusters, totals_interval
from deadpan.stats.interval import Interval
from deadpan.stats.sequences import rows_by_sequence

NONE = "(none)"


def pick_one(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Prediction]:
    """Pairs: of the responses to one context, the highest score is called sarcastic and no other.

    What stands alone keeps its label. Of equal scores the first is taken, as it would be by a person who
    cannot tell either.
    """
    picked = list(predictions)
    for rows in rows_by_sequence([example.sequence for example in examples]).values():
        if len(rows) < 2 or any(predictions[row].score is None for row in rows):
            continue
        best = max(rows, key=lambda row: predictions[row].score or 0.0)
        for row in rows:
            picked[row] = replace(predictions[row], label=row == best)
    return picked


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Scores of every example for every kind, and what is said of it."""

    names: tuple[str, ...]
    truth: NDArray[np.bool_]
    said: NDArray[np.bool_]
    scores: NDArray[np.float64]
    exclusive: bool

    def f1(self) -> dict[str, float]:
        """F1 of each kind; where kinds exclude each other, of "none" too."""
        hits = (self.truth & self.said).sum(axis=0)
        size = self.truth.sum(axis=0) + self.said.sum(axis=0)
        values = np.divide(2 * hits, size, out=np.zeros(len(self.names)), where=size > 0)
        return {name: float(value) for name, value in zip(self.names, values, strict=True)}

    def macro_f1(self) -> float:
        """The plain mean over kinds: the measure of both shared tasks."""
        return float(np.mean(list(self.f1().values())))

    def interval(self, seed: int = 0) -> Interval:
        """Macro F1 with its interval, by resampling examples."""
        columns = np.hstack([self.truth & self.said, self.truth, self.said]).astype(np.float64)
        kinds, often = kinds_of_clusters(columns, np.arange(len(columns)))
        width = len(self.names)

        def macro(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            hits, size = sums[..., :width], sums[..., width : 2 * width] + sums[..., 2 * width :]
            values = np.divide(2 * hits, size, out=np.zeros_like(hits), where=size > 0)
            mean: NDArray[np.float64] = values.mean(axis=-1)
            return mean

        return totals_interval(kinds, often, macro, n=len(columns), seed=seed)


def cross_validate_kinds(
    system: str,
    examples: Sequence[Example],
    *,
    k: int = 5,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Kinds:
    """One detector a kind, each asked "this kind or not", by folds.

    Where no example has two kinds and some have none (SemEval-2018 B), the kinds and "none" exclude each
    other and the highest score wins. Otherwise (iSarcasmEval B) each kind has a threshold of its own,
    chosen for F1 on a part of the training data.
    """
    kept = [example for example in examples if example.label is not None]
    names = tuple(sorted({name for example in kept for name in example.categories}))
    if len(names) < 2:
        raise DataError("no kinds to tell apart: this task needs examples with categories")
    exclusive = all(len(e.categories) < 2 for e in kept) and any(not e.categories for e in kept)
    columns = (NONE, *names) if exclusive else names
    truth = np.array([[_is(e, name) for name in columns] for e in kept])
    rows = {example.id: row for row, example in enumerate(kept)}
    scores, said = np.zeros(truth.shape), np.zeros(truth.shape, dtype=bool)
    for number, fold in enumerate(folds(kept, k, seed=0)):
        tested = [rows[example.id] for example in fold.test]
        for column, name in enumerate(columns):
            progress(f"{name}: fold", number, k)
            values, cut = _one_kind(system, fold.train, fold.test, name, seed, settings or {}, exclusive)
            scores[tested, column] = values
            said[tested, column] = values > cut
    if exclusive:
        said = scores == scores.max(axis=1, keepdims=True)
    return Kinds(columns, truth, said, scores, exclusive)


def _one_kind(
    system: str,
    train: Sequence[Example],
    test: Sequence[Example],
    name: str,
    seed: int,
    settings: Mapping[str, Any],
    exclusive: bool,
) -> tuple[NDArray[np.float64], float]:
    """Scores of the test examples for one kind, and the threshold; a kind nobody has scores its rate."""
    asked = [replace(example, label=_is(example, name)) for example in train]
    share = sum(bool(example.label) for example in asked) / len(asked)
    if share in (0.0, 1.0):
        return np.full(len(test), share), 0.5
    detector = Detector(system, **{"seed": seed, **settings})
    cut = 0.5
    if not exclusive:
        inner = folds(asked, 3, seed=1)[0]
        try:
            held = Detector(system, **{"seed": seed, **settings}).fit(inner.train).predict(inner.test)
            cut = choose_threshold(inner.test, held, "f1")
        except DataError:  # too few of this kind to hold some back
            cut = share
    said = detector.fit(asked).predict(test)
    return np.array([0.0 if p.score is None else p.score for p in said]), cut


def _is(example: Example, name: str) -> bool:
    return not example.categories if name == NONE else name in example.categories
