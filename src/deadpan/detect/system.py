"""What every system is: settings in, `fit`, `predict`, `save`, `load`. The contract of the suite is here.

- The constructor takes keyword arguments that JSON can hold, stores them, and does nothing else. Every
  system takes `turns`, `speakers` (see `Context`) and `seed`, and gives the same model for the same seed.
- `fit` leaves out examples without a label and refuses training data of one label only (`labelled` does
  both), and tells `progress` how far it is. `predict` gives a Prediction an example, in order, with a score
  from 0 to 1 (the probability of sarcasm, above one half is called sarcastic), and takes an empty list, an
  empty text and a text of a megabyte. Only a system that reads answers in words may leave a score None.
- `save` writes plain files (JSON, npy, npz, safetensors: nothing that could run), settings included, and
  `load` gives a system whose predictions are identical.
- Heavy libraries are imported with `need`, in the functions that use them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.context import Context
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction

LARGEST_SEED = 2**32
"""What every library takes: NumPy refuses a negative one, PyTorch one of more bits."""
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """Progress nobody watches."""


class System(ABC):
    """A Predictor with the settings all of them share."""

    def __init__(self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0) -> None:
        if not 0 <= seed < LARGEST_SEED:
            raise ConfigError(f"a seed is a whole number from 0 to {LARGEST_SEED - 1:,}: got {seed}")
        self.context = Context(turns, speakers)
        self.seed = seed
        self.progress: Progress = silent

    @property
    def settings(self) -> dict[str, Any]:
        """What the constructor was given; systems with settings of their own add them."""
        return {"turns": self.context.turns, "speakers": self.context.speakers, "seed": self.seed}

    @abstractmethod
    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn from the labelled examples."""

    @abstractmethod
    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """One prediction an example, in the same order."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything `load` needs, nothing pickled."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""


def labelled(examples: Sequence[Example]) -> tuple[list[Example], NDArray[np.bool_]]:
    """The examples that have a label, and their labels; one label only is an error."""
    kept = [example for example in examples if example.label is not None]
    labels = np.array([bool(example.label) for example in kept], dtype=bool)
    if not labels.any() or labels.all():
        have = "no labelled example" if not kept else f"{len(kept)} examples of one label only"
        raise DataError(f"training needs examples of both labels, sarcastic and not: got {have}")
    return kept, labels


def predictions(examples: Sequence[Example], scores: NDArray[Any] | Sequence[float]) -> list[Prediction]:
    """Scores as Predictions: above one half is called sarcastic."""
    return [
        Prediction(example.id, score > 0.5, score)
        for example, score in zip(examples, map(float, scores), strict=True)
    ]


def sigmoid(margins: NDArray[Any]) -> NDArray[np.float64]:
    """Margins as probabilities, without overflow."""
    squashed: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(margins, -500, 500)))
    return squashed
