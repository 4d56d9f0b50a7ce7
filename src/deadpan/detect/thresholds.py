"""Above which score to say sarcastic: a number, or the best one on examples held back for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction

RULES = ("f1", "balanced")


def parse_threshold(word: str) -> str | float:
    """f1, balanced, or a number from 0 to 1."""
    if word in RULES:
        return word
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ConfigError(f"threshold {word!r}: choose f1, balanced, or a number from 0 to 1")
    return value


def choose_threshold(
    examples: Sequence[Example], predictions: Sequence[Prediction], rule: str | float
) -> float:
    """The threshold with the best F1 of the sarcastic class, or the best balanced accuracy.

    It lies midway between two scores that occur; of equals, the one nearest to one half.
    """
    if isinstance(rule, float):
        return rule
    said = {p.example_id: p.score for p in predictions}
    rows = [(said[e.id], e.label) for e in examples if e.label is not None and said[e.id] is not None]
    scores = np.array([score for score, _ in rows], dtype=np.float64)
    labels = np.array([label for _, label in rows], dtype=bool)
    n_true, n_false = int(labels.sum()), int((~labels).sum())
    if not n_true or not n_false:
        raise DataError(
            "a threshold can only be chosen on scored examples of both labels: give more, or a number"
        )
    order = np.argsort(-scores, kind="stable")
    hits, calls = np.cumsum(labels[order]), np.arange(1, len(labels) + 1)
    if rule == "f1":
        quality = 2 * hits / (calls + n_true)
    elif rule == "balanced":
        quality = (hits / n_true + 1 - (calls - hits) / n_false) / 2
    else:
        raise ConfigError(f"unknown rule {rule!r}: choose from {', '.join(RULES)}")
    ranked = scores[order]
    cuttable = np.append(ranked[:-1] > ranked[1:], True)  # equal scores fall on one side
    middles = np.append((ranked[:-1] + ranked[1:]) / 2, ranked[-1] / 2)
    best = quality[cuttable].max()
    candidates = middles[cuttable & (quality >= best - 1e-12)]
    return float(candidates[np.argmin(np.abs(candidates - 0.5))])
