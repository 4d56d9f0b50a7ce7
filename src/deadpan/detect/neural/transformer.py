"""A pretrained encoder, fine-tuned to label a response given its context."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural import Device, StopOn
from deadpan.detect.neural.encoder import (
    ADAPTER,
    TUNED,
    EncodedPairs,
    PlainEncoder,
    adapted,
    adapter_of,
    load,
    merged,
    prepare,
    quiet,
    training_pairs,
    widen,
)
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.errors import ConfigError, need
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json
from deadpan.validation import config_from, encode

if TYPE_CHECKING:
    from deadpan.detect.neural.optimiser import Checkpoint

PREDICTED_TOGETHER = 64
FEW = 64
"""Texts up to which NumPy is done before PyTorch is loaded; per text, PyTorch takes half to 3/4 of its time."""
READABLE = 0o644
FORMS = ("safetensors", "onnx")
WHOLE, SMALL = "model.onnx", "model.int8.onnx"


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """`encoder` is the name of an embedded model, a folder, or a name on the Hugging Face hub.

    `method` tunes all weights or low-rank additions to them (`rank`). `pairwise` is the share of the loss that
    compares the responses of one sequence. `speaker_swap` is the share of the training dialogues whose speakers A
    and B are swapped, with `swap_tested` also those of what is predicted. `freeze` is the number of lowest layers
    that are frozen, with the word embeddings; LoRA then adapts the others only. `accumulate` batches make one step.
    `rdrop` is the weight of the disagreement of two passes, `adversarial` the size of attacks on the embeddings,
    `average` the mean of the later epochs. `checkpoint` is a folder: a training that was killed resumes from it.
    `start` is the folder of a detector with low-rank additions to the same encoder: they are trained further.
    With `heads`, each corpus of the training data has a head beside the shared one: it judges texts of that corpus,
    the shared one all others. `half` computes in bfloat16, with weights in full precision. `end` is the share of all
    batches after which training ends: the learning rate has then fallen to 0.
    """

    encoder: str = "minilm-l6"
    method: Literal["full", "lora"] = "full"
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
    swap_tested: bool = False
    accumulate: int = 1
    rdrop: float = 0.0
    adversarial: float = 0.0
    average: bool = False
    checkpoint: str = ""
    start: str = ""
    heads: bool = False
    half: bool = False
    end: float = 1.0
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
        if not 0 < self.end <= 1:
            raise ValueError(f"end is a share above 0, at most 1, got {self.end}")
        if self.heads and self.method != "lora":
            raise ValueError("heads need method lora: a whole encoder is saved with two labels only")


class Transformer(System):
    """Fine-tune any encoder of the transformers library, or low-rank additions to it."""

    about = "KoCoSa: a pretrained encoder, fine-tuned"
    variant = "encoder"
    library, extra = "transformers", "neural"

    def __init__(self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0, **options: Any) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.options = config_from(options, TransformerOptions, source="transformer")
        self._plain: PlainEncoder | None = None
        self._folder: Path | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.shared, **encode(self.options)}

    def fit(self, examples: Sequence[Example]) -> Self:
        """Hold a part out, fine-tune with warm-up and linear decay, keep the best epoch."""
        options = self.options
        kept, _ = labelled(examples)
        from deadpan.detect.neural.options import find_device, hold_out, seeded

        device = find_device(options.device)
        from deadpan.detect.neural.training import Training, plan_of, train

        known, watched = hold_out(kept, options.validation, self.seed)
        plan = plan_of(options, self.seed, linear=True)

        def training(part: Sequence[Example], swap: float) -> Training:
            pairs = training_pairs(self.context, part, swap, self.seed)
            labels = np.array([bool(example.label) for example in part], dtype=bool)
            return Training(self._encode(pairs), labels, [example.sequence for example in part], self._heads(part))

        self.corpora_ = sorted({example.source for example in kept}) if options.heads else []

        with seeded(self.seed, device):
            self.tokenizer_, model = load(options.encoder)
            if self.corpora_:
                widen(model, len(self.corpora_))
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
        from deadpan.detect.neural.optimiser import Checkpoint

        rows = "\n".join(f"{e.id}\t{e.label}\t{e.response.text}" for e in examples)
        settings = {key: value for key, value in self.settings.items() if key != "checkpoint"}
        texts = blake2b(rows.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return Checkpoint(self.options.checkpoint, {"settings": settings, "examples": texts})

    def _heads(self, examples: Sequence[Example]) -> NDArray[np.int64] | None:
        """Return the number of each example's corpus, -1 for one that was not trained on."""
        numbers = {name: number for number, name in enumerate(self.corpora_)}
        return np.array([numbers.get(e.source, -1) for e in examples], dtype=np.int64) if numbers else None

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> EncodedPairs:
        return EncodedPairs(self.tokenizer_, pairs, min(self.options.max_tokens, self._longest()))

    def _longest(self) -> int:
        """Return the encoder's token limit; some tokenizers use a huge number for 'no limit'."""
        return int(min(self.tokenizer_.model_max_length, 1_000_000))

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability of sarcasm; in NumPy for a few texts, or where there is no PyTorch."""
        if not examples:
            return []
        swap = self.options.speaker_swap if self.options.swap_tested else 0.0
        texts = training_pairs(self.context, examples, swap, self.seed)
        if self._plain is not None and (len(examples) <= FEW or find_spec("torch") is None):
            return predictions(examples, sigmoid(self._plain.margins(texts, self._heads(examples))))
        self.load_weights()
        need("torch", "neural")
        from deadpan.detect.neural.options import find_device
        from deadpan.detect.neural.training import margins

        device = find_device(self.options.device)
        pairs = self._encode(texts)
        known = margins(self.model_.to(device), pairs, PREDICTED_TOGETHER, device, self._heads(examples))
        return predictions(examples, sigmoid(known))

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
        state = {"settings": self.settings, "history": self.history_, "corpora": self.corpora_}
        write_json(folder / "transformer.json", state)

    def export_encoder(self, target: Path) -> None:
        """Write a folder that AutoModelForSequenceClassification loads, whatever was tuned."""
        self.load_weights()
        target.mkdir(parents=True, exist_ok=True)
        with quiet(), tempfile.TemporaryDirectory(dir=target, prefix=".", suffix=".tmp") as work:
            model = self.model_.cpu()
            if self.corpora_:  # others read two labels: the shared head
                model = deepcopy(model)
                widen(model, 0)
            model.save_pretrained(work)
            self.tokenizer_.save_pretrained(work)
            for file in sorted(Path(work).iterdir()):
                file.chmod(READABLE)  # the library writes tensors for the owner only
                file.replace(target / file.name)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "transformer.json")
        model = cls(**state["settings"])
        model.history_, model.corpora_ = state["history"], state["corpora"]
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
            if self.corpora_:
                widen(encoder, len(self.corpora_))
            encoder = adapted(encoder, self.options, self.adapter_)
        else:
            self.tokenizer_, encoder = load(str(folder / TUNED))
        self.model_ = encoder.eval()


def export_model(system: System, form: str, folder: Path) -> Path:
    """Write the encoder of a transformer detector, or of the one in a blend, and return the folder.

    "safetensors" is a folder that transformers' AutoModelForSequenceClassification loads, with the names of
    the labels. "onnx" is the same folder's model.onnx and model.int8.onnx, with the tokenizer beside them.
    """
    if form not in FORMS:
        raise ConfigError(f"cannot export {form!r}: choose from {', '.join(FORMS)}")
    members = [each for each in getattr(system, "members_", ()) if isinstance(each, Transformer)]
    if len(members) == 1:
        system = members[0]
    if not isinstance(system, Transformer):
        raise ConfigError("only a transformer detector has an encoder to export: others are plain arrays already")
    if not system.is_fitted:
        raise ConfigError("the detector is not trained: fit it first")
    folder.mkdir(parents=True, exist_ok=True)
    if form == "safetensors":
        system.export_encoder(folder)
    else:
        _write_onnx(system, folder)
    return folder


def _write_onnx(system: Transformer, folder: Path) -> None:
    torch = need("torch", "neural")
    need("onnxscript", "onnx")
    system.load_weights()
    tools = need("onnxruntime.quantization", "onnx")
    batch = system.tokenizer_(["a text", "another text, longer"], padding=True, return_tensors="pt")
    names = [name for name in batch if name in ("input_ids", "attention_mask", "token_type_ids")]
    shapes = {name: {0: "texts", 1: "tokens"} for name in names}
    with quiet(), warnings.catch_warnings(), atomic(folder / WHOLE) as temporary:
        warnings.simplefilter("ignore")  # of the library, about its own internals
        torch.onnx.export(
            _logits_of(system.model_.cpu().eval(), names), tuple(batch[name] for name in names),
            str(temporary), input_names=names, output_names=["logits"],
            dynamic_axes={**shapes, "logits": {0: "texts"}}, opset_version=17, dynamo=False,
        )  # fmt: skip
    with atomic(folder / SMALL) as temporary:
        # A scale per channel, and 7 bits of 8: sums of 16 bits then never overflow, which had moved scores by 0.29.
        settings = {"weight_type": tools.QuantType.QInt8, "per_channel": True, "reduce_range": True}
        tools.quantize_dynamic(str(folder / WHOLE), str(temporary), **settings)
    with quiet():
        system.tokenizer_.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(READABLE)


def _logits_of(model: Any, names: list[str]) -> Any:
    torch = need("torch", "neural")

    class Logits(torch.nn.Module):  # type: ignore[name-defined]
        """The model with its inputs by position and its logits alone."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return self.model(**dict(zip(names, inputs, strict=True))).logits[:, :2]

    return Logits()
