"""Base class of every detection system, and the contract that tests/contracts/test_detectors.py checks.

- The constructor takes keyword arguments that JSON can hold, stores them, and does nothing else. Every
  system takes `turns`, `speakers` (see `Context`) and `seed`; the same seed gives the same model.
- `fit` excludes examples without a label and refuses training data of one label only (`labelled` does
  both), and reports to `progress`. `predict` returns one Prediction per example, in order, with a score
  from 0 to 1 (the probability of sarcasm; above 0.5 is labelled sarcastic), and accepts an empty list, an
  empty text and a text of a megabyte. Only a system that reads answers in words may leave a score None.
- `save` writes plain files (JSON, npy, npz, safetensors: nothing that can run code), settings included,
  and `load` returns a system whose predictions are identical.
- Learned attributes end in `_`. Heavy libraries are imported with `need`, in the functions that use them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.context import Context
from deadpan.errors import ConfigError, DataError
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction

LARGEST_SEED = 2**32
"""Accepted by every library: NumPy refuses negative seeds, PyTorch seeds of more bits."""


class System(ABC):
    """A Predictor with the settings that all systems share."""

    about: ClassVar[str] = ""
    """One line for `deadpan detect systems`."""
    variant: ClassVar[str] = ""
    """The setting that VALUE sets where the system is written NAME:VALUE, such as frozen:mpnet-base."""
    library: ClassVar[str] = ""
    """A library that must be installed, and `extra`, the extra of deadpan that installs it."""
    extra: ClassVar[str] = ""

    def __init__(self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0) -> None:
        if not 0 <= seed < LARGEST_SEED:
            raise ConfigError(f"a seed is a whole number from 0 to {LARGEST_SEED - 1:,}: got {seed}")
        self.context = Context(turns, speakers)
        self.seed = seed
        self.progress: Progress = silent

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the constructor; systems with settings of their own add them."""
        return {"turns": self.context.turns, "speakers": self.context.speakers, "seed": self.seed}

    @property
    def is_fitted(self) -> bool:
        """True once something has been learned: learned attributes end in an underscore."""
        return any(name.endswith("_") for name in vars(self))

    def influential(self, examples: Sequence[Example]) -> list[Example]:
        """Return the training examples whose texts shape the model: all labelled ones, by default."""
        return [example for example in examples if example.label is not None]

    @abstractmethod
    def fit(self, examples: Sequence[Example]) -> Self:
        """Train on the labelled examples."""

    @abstractmethod
    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return one prediction per example, in the same order."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything `load` needs, nothing pickled."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""


def labelled(examples: Sequence[Example]) -> tuple[list[Example], NDArray[np.bool_]]:
    """Return the examples that have a label, and their labels; one label only is an error."""
    kept = [example for example in examples if example.label is not None]
    labels = np.array([bool(example.label) for example in kept], dtype=bool)
    if not labels.any() or labels.all():
        have = "no labelled example" if not kept else f"{len(kept)} examples of one label only"
        raise DataError(f"training needs examples of both labels, sarcastic and sincere: got {have}")
    return kept, labels


def predictions(examples: Sequence[Example], scores: NDArray[Any] | Sequence[float]) -> list[Prediction]:
    """Return the scores as Predictions: above 0.5 is labelled sarcastic."""
    return [
        Prediction(example.id, score > 0.5, score)
        for example, score in zip(examples, map(float, scores), strict=True)
    ]


def sigmoid(margins: NDArray[Any]) -> NDArray[np.float64]:
    """Return margins as probabilities, without overflow."""
    squashed: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(margins, -500, 500)))
    return squashed
