"""[transformer]: a pretrained encoder, tuned to say sarcastic or not of a response after its context."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from deadpan.config import config_from
from deadpan.detect.neural.device import find_device, seeded
from deadpan.detect.neural.held_out import hold_out
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.transformer.encoder import TUNED, load, merged, prepare, quiet
from deadpan.detect.transformer.options import Options
from deadpan.detect.transformer.pairs import EncodedPairs
from deadpan.detect.transformer.swap import training_pairs
from deadpan.errors import need
from deadpan.fields import encode
from deadpan.records import Example, Prediction
from deadpan.storage import read_json, write_json

PREDICTED_TOGETHER = 64


class Transformer(System):
    """Fine-tune any encoder of the transformers library, or low-rank additions to it."""

    def __init__(
        self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0, **options: Any
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.options = config_from(options, Options, source="transformer")

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, **encode(self.options)}

    def fit(self, examples: Sequence[Example]) -> Self:
        """Hold a part out, tune with a rate that rises and falls, keep the best epoch."""
        options = self.options
        kept, _ = labelled(examples)
        device = find_device(options.device)
        from deadpan.detect.neural.batches import Training
        from deadpan.detect.neural.trainer import plan_of, train

        known, watched = hold_out(kept, options.validation, self.seed)
        plan = plan_of(options, self.seed, linear=True)

        def training(part: Sequence[Example], swap: float) -> Training:
            pairs = training_pairs(self.context, part, swap, self.seed)
            labels = np.array([bool(example.label) for example in part], dtype=bool)
            return Training(self._encode(pairs), labels, [example.sequence for example in part])

        with seeded(self.seed, device):
            self.tokenizer_, model = load(options.encoder)
            network = prepare(model, options, sparse=device.type != "mps")
            held_out = training(watched, 0.0) if watched else None
            history = train(
                network, training(known, options.speaker_swap), held_out, plan, device, self.progress
            )
        self.model_ = merged(network).eval()
        self.history_ = [asdict(epoch) for epoch in history]
        return self

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> EncodedPairs:
        return EncodedPairs(self.tokenizer_, pairs, min(self.options.max_tokens, self._longest()))

    def _longest(self) -> int:
        """Tokens the encoder was made for; some tokenizers say a number without meaning for 'no limit'."""
        return int(min(self.tokenizer_.model_max_length, 1_000_000))

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """The probability of sarcasm."""
        need("torch", "neural")
        if not examples:
            return []
        from deadpan.detect.neural.trainer import margins

        device = find_device(self.options.device)
        pairs = self._encode([self.context.texts(example) for example in examples])
        return predictions(
            examples, sigmoid(margins(self.model_.to(device), pairs, PREDICTED_TOGETHER, device))
        )

    def save(self, folder: Path) -> None:
        """The encoder in the library's own format (safetensors and JSON), so that others can load it too."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / TUNED
        target.mkdir(exist_ok=True)
        with quiet(), tempfile.TemporaryDirectory(dir=folder, prefix=".", suffix=".tmp") as work:
            self.model_.cpu().save_pretrained(work)
            self.tokenizer_.save_pretrained(work)
            for file in sorted(Path(work).iterdir()):
                file.replace(target / file.name)
        write_json(folder / "transformer.json", {"settings": self.settings, "history": self.history_})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        need("torch", "neural")
        state = read_json(folder / "transformer.json")
        model = cls(**state["settings"])
        model.history_ = state["history"]
        model.tokenizer_, encoder = load(str(folder / TUNED))
        model.model_ = encoder.eval()
        return model
