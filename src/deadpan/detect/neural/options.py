"""Settings of networks, the device that networks and encoders run on, and the part that is held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deadpan.detect.neural import Device, StopOn
from deadpan.errors import ConfigError, need
from deadpan.records import Example

if TYPE_CHECKING:
    import torch

FEWEST = 20
"""With fewer examples nothing is held out: a handful is too noisy, and training needs them all."""


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
            raise ValueError(f"dropout_range needs two numbers from 0 to 1, the lower one first, got {list(drawn)}")


def find_device(name: Device) -> torch.device:
    """Return the device of that name; "auto" is the fastest available."""
    library = need("torch", "neural")
    has = {"cuda": library.cuda.is_available(), "mps": library.backends.mps.is_available(), "cpu": True}
    chosen = next(device for device in has if has[device]) if name == "auto" else name
    if not has[chosen]:
        raise ConfigError(f"device {name!r}: not available on this machine: use auto or cpu")
    device: torch.device = library.device(chosen)
    return device


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch inside the block, and restore its random state afterwards."""
    library = need("torch", "neural")
    with library.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        library.manual_seed(seed)
        yield


def hold_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the examples to train on and those to hold out; the second is empty where none can be.

    Examples of a dev split are held out if there are any. Otherwise a share is drawn that no group and no
    sequence crosses; nothing is held out if either part would lack a label.
    """
    everything = list(examples)
    if share <= 0 or len(everything) < FEWEST:
        return everything, []
    watched = [example for example in everything if example.split == "dev"]
    kept = [example for example in everything if example.split != "dev"]
    if not watched or not _has_both(kept):
        # Ids may repeat across corpora; the position makes them unique and the draw still follows the seed.
        numbered = [replace(example, id=f"{example.id}\0{at}") for at, example in enumerate(everything)]
        places = {example.id: at for at, example in enumerate(numbered)}
        if _one_cluster(numbered):
            return everything, []
        from deadpan.splits import split

        parts = split(numbered, {"train": 1 - share, "dev": share}, seed)
        kept = [everything[at] for at in sorted(places[e.id] for e in parts["train"])]
        watched = [everything[at] for at in sorted(places[e.id] for e in parts["dev"])]
    return (kept, watched) if _has_both(kept) and _has_both(watched) else (everything, [])


def _has_both(examples: Sequence[Example]) -> bool:
    return {example.label for example in examples} >= {True, False}


def _one_cluster(examples: Sequence[Example]) -> bool:
    return len({example.group or example.id for example in examples}) < 2
