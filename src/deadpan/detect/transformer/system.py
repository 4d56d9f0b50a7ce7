"""A pretrained encoder, fine-tuned to label a response given its context."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deadpan.config import config_from
from deadpan.detect.neural.device import find_device, seeded
from deadpan.detect.neural.held_out import hold_out
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.transformer.encoder import (
    ADAPTER,
    TUNED,
    adapted,
    adapter_of,
    load,
    merged,
    prepare,
    quiet,
)
from deadpan.detect.transformer.options import TransformerOptions
from deadpan.detect.transformer.pairs import EncodedPairs
from deadpan.detect.transformer.plain import FEW, PlainEncoder
from deadpan.detect.transformer.swap import training_pairs
from deadpan.errors import need
from deadpan.fields import encode
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json

if TYPE_CHECKING:
    from deadpan.detect.neural.checkpoint import Checkpoint

PREDICTED_TOGETHER = 64
READABLE = 0o644


class Transformer(System):
    """Fine-tune any encoder of the transformers library, or low-rank additions to it."""

    about = "KoCoSa: a pretrained encoder, fine-tuned"
    variant = "encoder"
    library, extra = "transformers", "neural"

    def __init__(
        self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0, **options: Any
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.options = config_from(options, TransformerOptions, source="transformer")
        self._plain: PlainEncoder | None = None
        self._folder: Path | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, **encode(self.options)}

    def fit(self, examples: Sequence[Example]) -> Self:
        """Hold a part out, fine-tune with warm-up and linear decay, keep the best epoch."""
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
                network, training(known, options.speaker_swap), held_out, plan, device, self.progress,
                self._checkpoint(kept),
            )  # fmt: skip
        self.adapter_ = adapter_of(network)
        self.model_ = merged(network).eval()
        self.history_ = [asdict(epoch) for epoch in history]
        return self

    def _checkpoint(self, examples: Sequence[Example]) -> Checkpoint | None:
        """Return the checkpoint of exactly this training, where one was asked for."""
        if not self.options.checkpoint:
            return None
        from deadpan.detect.neural.checkpoint import Checkpoint

        rows = "\n".join(f"{e.id}\t{e.label}\t{e.response.text}" for e in examples)
        settings = {key: value for key, value in self.settings.items() if key != "checkpoint"}
        texts = blake2b(rows.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return Checkpoint(self.options.checkpoint, {"settings": settings, "examples": texts})

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> EncodedPairs:
        return EncodedPairs(self.tokenizer_, pairs, min(self.options.max_tokens, self._longest()))

    def _longest(self) -> int:
        """Return the encoder's token limit; some tokenizers use a huge number for 'no limit'."""
        return int(min(self.tokenizer_.model_max_length, 1_000_000))

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability of sarcasm; in NumPy for a few texts, or where there is no PyTorch."""
        if not examples:
            return []
        if self._plain is not None and (len(examples) <= FEW or find_spec("torch") is None):
            pairs_of = [self.context.texts(example) for example in examples]
            return predictions(examples, sigmoid(self._plain.margins(pairs_of)))
        self.load_weights()
        need("torch", "neural")
        from deadpan.detect.neural.trainer import margins

        device = find_device(self.options.device)
        pairs = self._encode([self.context.texts(example) for example in examples])
        return predictions(
            examples, sigmoid(margins(self.model_.to(device), pairs, PREDICTED_TOGETHER, device))
        )

    def save(self, folder: Path) -> None:
        """Write the encoder in the library's own format, or of LoRA only the additions and the head."""
        self.load_weights()
        folder.mkdir(parents=True, exist_ok=True)
        if self.adapter_ is None:
            self.export_encoder(folder / TUNED)
        else:
            tensors = need("safetensors.torch", "neural")
            with atomic(folder / ADAPTER) as temporary:
                tensors.save_file(self.adapter_, temporary)
                temporary.chmod(READABLE)
        write_json(folder / "transformer.json", {"settings": self.settings, "history": self.history_})

    def export_encoder(self, target: Path) -> None:
        """Write a folder that AutoModelForSequenceClassification loads, whatever was tuned."""
        self.load_weights()
        target.mkdir(parents=True, exist_ok=True)
        with quiet(), tempfile.TemporaryDirectory(dir=target, prefix=".", suffix=".tmp") as work:
            self.model_.cpu().save_pretrained(work)
            self.tokenizer_.save_pretrained(work)
            for file in sorted(Path(work).iterdir()):
                file.chmod(READABLE)  # the library writes tensors for the owner only
                file.replace(target / file.name)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        state = read_json(folder / "transformer.json")
        model = cls(**state["settings"])
        model.history_ = state["history"]
        model._folder = folder
        model._plain = PlainEncoder.read(folder, model.options)
        if model._plain is None:
            model.load_weights()
        return model

    def load_weights(self) -> None:
        """Load what `load` left for later, in PyTorch."""
        folder, self._folder = self._folder, None
        if folder is None:
            return
        need("torch", "neural")
        self.adapter_ = None
        if (folder / ADAPTER).is_file():
            self.adapter_ = need("safetensors.torch", "neural").load_file(folder / ADAPTER)
            self.tokenizer_, encoder = load(self.options.encoder)
            encoder = adapted(encoder, self.options, self.adapter_)
        else:
            self.tokenizer_, encoder = load(str(folder / TUNED))
        self.model_ = encoder.eval()
