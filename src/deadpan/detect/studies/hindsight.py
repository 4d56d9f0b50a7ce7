"""Limits of a ranking at any threshold, and warnings of answers that look wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deadpan.records import Example, Prediction

WILD = 3.0
"""A share of sarcastic answers that differs from the expected one by this factor is warned of."""


def average_precision(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the mean precision at every sarcastic example, ranked by score; ties count as one step."""
    hits, calls = _steps(truth, scores)
    gained = np.diff(np.concatenate([[0.0], hits]))
    return float((gained * hits / calls).sum() / max(hits[-1], 1))


def best_f1(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the best F1 of any threshold: what a perfect choice would reach, never a result."""
    hits, calls = _steps(truth, scores)
    return float((2 * hits / (calls + truth.sum())).max())


def _steps(
    truth: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the hits and the calls after every distinct score, from the highest."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    return np.cumsum(truth[order]).astype(np.float64)[ends], (ends + 1).astype(np.float64)


def ranking_scores(examples: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return average precision and the best F1 in hindsight; empty without scores or without both labels."""
    score_of = {p.example_id: p.score for p in predictions}
    rows = [(bool(e.label), score_of.get(e.id)) for e in examples if e.label is not None]
    scored = [(label, score) for label, score in rows if score is not None]
    truth = np.array([label for label, _ in scored], dtype=bool)
    scores = np.array([score for _, score in scored], dtype=np.float64)
    if not truth.any() or truth.all():
        return {}
    return {"average_precision": average_precision(truth, scores), "best_f1": best_f1(truth, scores)}


def rate_warnings(predictions: Sequence[Prediction], expected: float | None) -> tuple[str, ...]:
    """Return a warning of a constant answer, or of a share of sarcastic answers far from the expected one."""
    labels = [p.label for p in predictions if p.label is not None]
    if len(labels) < 2:
        return ()
    rate = sum(labels) / len(labels)
    if rate in (0.0, 1.0):
        word = "sarcastic" if rate else "sincere"
        return (f"a constant answer: all {len(labels):,} texts are called {word}.",)
    if expected and not expected / WILD <= rate <= min(expected * WILD, 1 - (1 - expected) / WILD):
        return (
            f"{rate:.0%} are called sarcastic where {expected:.0%} would be expected: the threshold does not "
            "fit these texts; choose another one (--threshold f1), and if you know their share of sarcastic "
            "texts, give it too (--prevalence).",
        )
    return ()
