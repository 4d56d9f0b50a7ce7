"""Settings of fine-tuning, all keyword arguments of the system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deadpan.detect.neural.device import Device
from deadpan.detect.neural.options import StopOn

Method = Literal["full", "lora"]


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """`encoder` is the name of an embedded model, a folder, or a name on the Hugging Face hub.

    `method` tunes all weights or low-rank additions to them (`rank`). `pairwise` is the share of the loss
    that compares the responses of one sequence. `speaker_swap` is the share of the training dialogues whose
    speakers A and B are swapped. `freeze` is the number of lowest layers that are frozen, with the word
    embeddings; LoRA then adapts the others only. `accumulate` batches make one step. `rdrop` is the weight of
    the disagreement of two passes, `adversarial` the size of attacks on the embeddings, `average` the mean of
    the later epochs. `checkpoint` is a folder: a training that was killed resumes from it. `start` is the
    folder of a detector with low-rank additions to the same encoder: they are trained further.
    """

    encoder: str = "minilm-l6"
    method: Method = "full"
    rank: int = 8
    freeze: int = 0
    max_tokens: int = 128
    epochs: int = 3
    batch_size: int = 16
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip: float = 1.0
    patience: int = 2
    validation: float = 0.1
    balance: bool = True
    pairwise: float = 0.0
    stop_on: StopOn = "auto"
    speaker_swap: float = 0.0
    accumulate: int = 1
    rdrop: float = 0.0
    adversarial: float = 0.0
    average: bool = False
    checkpoint: str = ""
    start: str = ""
    device: Device = "auto"

    def __post_init__(self) -> None:
        least = {"rank": 1, "freeze": 0, "max_tokens": 8, "epochs": 1, "batch_size": 1, "accumulate": 1}
        for name, low in {**least, "rdrop": 0, "adversarial": 0}.items():
            if getattr(self, name) < low:
                raise ValueError(f"{name} needs a number of at least {low}, got {getattr(self, name)}")
        for name in ("warmup", "validation", "pairwise", "speaker_swap"):
            most = 0.9 if name in ("warmup", "validation") else 1
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} needs a number from 0 to {most}, got {getattr(self, name)}")
        if self.learning_rate <= 0:
            raise ValueError(f"learning_rate needs a number above 0, got {self.learning_rate}")
        if self.patience < 1:
            raise ValueError(f"patience needs a whole number of at least 1, got {self.patience}")
