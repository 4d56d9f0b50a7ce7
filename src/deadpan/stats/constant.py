"""Scores of a constant answer, which every system must beat."""

from __future__ import annotations

from collections.abc import Sequence

from deadpan.records import Example, Prediction
from deadpan.stats.direction import merit
from deadpan.stats.table import score_predictions

CONSTANT = "constant answer"
NOTE = "Constant answer: the better of always sarcastic and always sincere, per score"


def constant_scores(examples: Sequence[Example]) -> dict[str, float]:
    """Return the best value of each score that always answering sarcastic, or always sincere, reaches.

    Both give every example the share of sarcastic ones as its score.
    """
    kept = [example for example in examples if example.label is not None]
    share = sum(bool(example.label) for example in kept) / max(len(kept), 1)
    best: dict[str, float] = {}
    for label in (True, False):
        answers = [Prediction(example.id, label, share) for example in kept]
        for name, interval in score_predictions(kept, answers, resamples=1).scores.items():
            if interval.value is not None:
                both = (best.get(name, interval.value), interval.value)
                best[name] = max(both, key=lambda value: merit(name, value))
    return best
