"""Settings of a network and of its training, all keyword arguments of the system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deadpan.detect.neural.device import Device

StopOn = Literal["auto", "auc", "f1", "macro_f1", "balanced_accuracy", "pair_accuracy", "loss"]
"""Score of the held-out part. "auto" is pair accuracy where that part is all pairs, and otherwise AUC, which
is less noisy on a small part than scores that depend on a threshold. On a tie the smaller loss wins."""


@dataclass(frozen=True, slots=True)
class NeuralOptions:
    """`vectors` is empty (random), "embedded", or a GloVe or word2vec text file.

    `members` networks are trained and their scores averaged; with `dropout_range` (low, high) each draws its
    dropout from there. `balance` weights both labels equally. `pairwise` is the share of the loss that
    compares the responses of one sequence. `validation` is the share held out for early stopping.
    """

    dimension: int = 100
    hidden: int = 100
    dropout: float = 0.3
    dropout_range: tuple[float, ...] = ()
    members: int = 1
    vectors: str = ""
    tune_vectors: bool = True
    min_count: int = 2
    most_words: int = 50_000
    max_tokens: int = 100
    epochs: int = 20
    batch_size: int = 64
    learning_rate: float = 0.001
    weight_decay: float = 0.0001
    clip: float = 1.0
    patience: int = 3
    validation: float = 0.1
    balance: bool = True
    pairwise: float = 0.0
    stop_on: StopOn = "auto"
    device: Device = "auto"

    def __post_init__(self) -> None:
        least = {"dimension": 1, "hidden": 1, "members": 1, "min_count": 1, "most_words": 1, "max_tokens": 1}
        for name, low in {**least, "epochs": 1, "batch_size": 1, "patience": 1}.items():
            if getattr(self, name) < low:
                raise ValueError(f"{name} needs a whole number of at least {low}, got {getattr(self, name)}")
        for name in ("dropout", "validation", "pairwise"):
            most = 1 if name == "pairwise" else 0.9
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} needs a number from 0 to {most}, got {getattr(self, name)}")
        if self.learning_rate <= 0:
            raise ValueError(f"learning_rate needs a number above 0, got {self.learning_rate}")
        drawn = self.dropout_range
        if drawn and not (len(drawn) == 2 and 0 <= drawn[0] <= drawn[1] < 1):
            raise ValueError(
                f"dropout_range needs two numbers from 0 to 1, the lower one first, got {list(drawn)}"
            )
