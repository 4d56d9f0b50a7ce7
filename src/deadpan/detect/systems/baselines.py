"""Trivial baselines: chance at the rate of the training data, and always the more frequent label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

from deadpan.detect.system import System, labelled, predictions
from deadpan.draws import draw
from deadpan.records import Example, Prediction
from deadpan.storage import read_json, write_json


class Rate(System):
    """A system that knows one number: the share of sarcastic training examples."""

    name: ClassVar[str]

    def fit(self, examples: Sequence[Example]) -> Self:
        """Compute the share."""
        _, labels = labelled(examples)
        self.rate_ = float(labels.mean())
        return self

    def save(self, folder: Path) -> None:
        """Write the share."""
        write_json(folder / f"{self.name}.json", {"settings": self.settings, "rate": self.rate_})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the share."""
        state = read_json(folder / f"{cls.name}.json")
        model = cls(**state["settings"])
        model.rate_ = float(state["rate"])
        return model


class Random(Rate):
    """Label at random at the rate of the training data; a draw depends on (seed, id) alone."""

    about = "chance, at the rate of the training data"
    name = "random"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return uniform random scores, scaled so that the training rate of them exceeds 0.5."""
        draws = [int.from_bytes(draw(self.seed, example.id)[:8], "big") / 2**64 for example in examples]
        sarcastic = 1 - self.rate_
        # Scaled so that the training rate of scores exceeds the threshold of 0.5.
        scores = [
            0.5 * x / sarcastic if x < sarcastic else 0.5 + 0.5 * (x - sarcastic) / self.rate_ for x in draws
        ]
        return predictions(examples, [min(score, 1.0) for score in scores])


class Majority(Rate):
    """Always the more frequent training label; on a tie, sincere. The score is the sarcastic share."""

    about = "always the more frequent label"
    name = "majority"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the same prediction for all."""
        return predictions(examples, [self.rate_] * len(examples))
