"""What a system must beat: chance at the training rate, and always the commoner label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

from deadpan.detect.system import System, labelled, predictions
from deadpan.draws import draw
from deadpan.records import Example, Prediction
from deadpan.storage import read_json, write_json


class Rate(System):
    """A system that knows one number: how many of the training examples are sarcastic."""

    name: ClassVar[str]

    def fit(self, examples: Sequence[Example]) -> Self:
        """Count."""
        _, labels = labelled(examples)
        self.rate_ = float(labels.mean())
        return self

    def save(self, folder: Path) -> None:
        """The number."""
        write_json(folder / f"{self.name}.json", {"settings": self.settings, "rate": self.rate_})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The number again."""
        state = read_json(folder / f"{cls.name}.json")
        model = cls(**state["settings"])
        model.rate_ = float(state["rate"])
        return model


class Random(Rate):
    """Calls as many sarcastic as there were in training, whichever; a draw depends on (seed, id) alone."""

    name = "random"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """A score drawn evenly from what lies on the side that was drawn."""
        draws = [int.from_bytes(draw(self.seed, example.id)[:8], "big") / 2**64 for example in examples]
        sarcastic = 1 - self.rate_
        # Stretched so that the threshold of one half is passed at the training rate.
        scores = [
            0.5 * x / sarcastic if x < sarcastic else 0.5 + 0.5 * (x - sarcastic) / self.rate_ for x in draws
        ]
        return predictions(examples, [min(score, 1.0) for score in scores])


class Majority(Rate):
    """Always the commoner label of the training data; on a tie, not sarcastic. The score is its rate."""

    name = "majority"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """The same for all."""
        return predictions(examples, [self.rate_] * len(examples))
