"""The score above which a text is labelled sarcastic: a number, or chosen from out-of-fold scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.seen import without_texts_of
from deadpan.detect.system import System
from deadpan.errors import ConfigError, DataError
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.splits import folds

RULES = ("f1", "balanced")
DEFAULT_THRESHOLD = 0.5
SHRINKAGE = 100
"""Sarcastic examples that weigh as much as a known prevalence in the choice of a threshold."""
FOLDS = 5
"""Folds whose out-of-fold scores a threshold is chosen from."""

Threshold = str | float


def check_threshold(threshold: Threshold) -> Threshold:
    """Return the threshold if it is a rule or a number from 0 to 1."""
    if isinstance(threshold, str) and threshold in RULES:
        return threshold
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not 0 <= float(threshold) <= 1:
        raise ConfigError(f"threshold {threshold!r}: choose f1, balanced, or a number from 0 to 1")
    return threshold


def check_choice(threshold: Threshold, prevalence: float | None) -> None:
    """Refuse a prevalence beside a number: it is a rule that chooses a threshold for a prevalence."""
    if prevalence is not None and not isinstance(threshold, str):
        raise ConfigError(
            f"prevalence {prevalence} has no effect on a threshold of {threshold}: --prevalence needs "
            "--threshold f1 or balanced"
        )


def parse_threshold(word: str) -> Threshold:
    """Return f1, balanced, or the number that was typed."""
    try:
        return check_threshold(word if word in RULES else float(word))
    except ValueError:
        raise ConfigError(f"threshold {word!r}: choose f1, balanced, or a number from 0 to 1") from None


def choose_threshold(
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    rule: Threshold,
    prevalence: float | None = None,
) -> float:
    """Return the threshold with the best F1 of the sarcastic class, or the best balanced accuracy.

    It lies midway between two scores that occur; of equally good ones, the nearest to 0.5 is returned. The
    predictions must come from models that were not trained on these examples. With `prevalence`, F1 is that
    of a target with this share of sarcastic texts, and the threshold is drawn towards the one that calls this
    share sarcastic: the fewer sarcastic examples there are, the more.
    """
    if not isinstance(rule, str):
        return float(rule)
    score_of = {p.example_id: p.score for p in predictions}
    rows = [(score_of[e.id], e.label) for e in examples if e.label is not None]
    scored = [(score, label) for score, label in rows if score is not None]
    scores = np.array([score for score, _ in scored], dtype=np.float64)
    labels = np.array([label for _, label in scored], dtype=bool)
    if labels.all() or not labels.any():
        raise DataError(
            "a threshold can only be chosen from scores of examples of both labels: give more examples, "
            "or a number such as 0.5"
        )
    order = np.argsort(-scores, kind="stable")
    weights = _weights(labels, prevalence)[order]
    quality = _quality(labels[order], weights, rule)
    ranked = scores[order]
    cuttable = np.append(ranked[:-1] > ranked[1:], True)  # equal scores fall on one side
    middles = np.append((ranked[:-1] + ranked[1:]) / 2, ranked[-1] / 2)
    best = quality[cuttable].max()
    candidates = middles[cuttable & (quality >= best - 1e-12)]
    chosen = float(candidates[np.argmin(np.abs(candidates - 0.5))])
    if prevalence is None:
        return chosen
    called = np.cumsum(weights) / weights.sum()
    expected = float(ranked[min(int(np.searchsorted(called, prevalence)), len(ranked) - 1)])
    trust = int(labels.sum()) / (int(labels.sum()) + SHRINKAGE)
    return trust * chosen + (1 - trust) * expected


def _weights(labels: NDArray[np.bool_], prevalence: float | None) -> NDArray[np.float64]:
    """Return weights of examples under which `prevalence` of them are sarcastic."""
    if prevalence is None:
        return np.ones(len(labels))
    sides = prevalence / labels.sum(), (1 - prevalence) / (~labels).sum()
    weights: NDArray[np.float64] = np.where(labels, *sides).astype(np.float64) * len(labels)
    return weights


def _quality(labels: NDArray[np.bool_], weights: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """Return the score of calling the first 1, 2, ... rows sarcastic."""
    n_true, n_false = weights[labels].sum(), weights[~labels].sum()
    hits, calls = np.cumsum(weights * labels), np.cumsum(weights)
    if rule == "f1":
        return np.asarray(2 * hits / (calls + n_true), dtype=np.float64)
    if rule == "balanced":
        return np.asarray((hits / n_true + 1 - (calls - hits) / n_false) / 2, dtype=np.float64)
    raise ConfigError(f"unknown rule {rule!r}: choose from {', '.join(RULES)}")


def out_of_fold_threshold(
    make: Callable[[], System],
    examples: Sequence[Example],
    rule: Threshold,
    *,
    prevalence: float | None = None,
    k: int = FOLDS,
    progress: Progress = silent,
) -> float:
    """Choose a threshold from scores that every labelled example gets from a model not trained on it.

    Folds cross no group or sequence, and copies of a test text are excluded from its training fold.
    """
    if not isinstance(rule, str):
        return float(rule)
    kept = [example for example in examples if example.label is not None]
    predictions: list[Prediction] = []
    try:
        for number, fold in enumerate(folds(kept, k, seed=1)):
            progress("threshold: fold", number, k)
            system = make().fit(without_texts_of(fold.train, fold.test))
            predictions += system.predict(fold.test)
        return choose_threshold(kept, predictions, rule, prevalence)
    except (ConfigError, DataError) as problem:
        raise DataError(
            f"too few examples to choose a threshold in {k} folds ({problem}): use a number such as 0.5"
        ) from None


def at_threshold(predictions: Iterable[Prediction], threshold: float) -> list[Prediction]:
    """Return the same scores labelled by another threshold; a prediction without a score keeps its label."""
    return [p if p.score is None else replace(p, label=p.score > threshold) for p in predictions]
