"""Encoders: locate them, load them, and choose which weights are trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural.options import Device, StopOn
from deadpan.detect.system import Context
from deadpan.draws import draw
from deadpan.errors import ConfigError, ModelError, need, reason_of
from deadpan.models import MODELS
from deadpan.models import path as model_path
from deadpan.records import Example, Turn
from deadpan.text import render_turn

if TYPE_CHECKING:
    from torch import Tensor, nn


Method = Literal["full", "lora"]
LARGE_TABLE = 5_000  # embeddings from this size on are updated sparsely
LABELS = ("sincere", "sarcastic")
TUNED = "encoder"
"""The folder inside a saved detector that holds the encoder, in the library's own format."""
ADAPTER = "adapter.safetensors"
"""The file of a saved detector that holds low-rank additions instead."""
CHARACTERS_A_TOKEN = 30
"""Characters read per token that may be kept, so that a text of a megabyte costs no more than a page."""
OTHER_NAME = {"A": "B", "B": "A"}


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


def locate(name: str) -> tuple[str, bool]:
    """Return what to load for a name, and True if it is a local folder, which needs no network.

    The folder of a saved detector is an encoder too: it can be trained further.
    """
    if name in MODELS:
        return str(model_path(name)), True
    folder = Path(name).expanduser()
    for place in (folder / TUNED, folder):
        if (place / "config.json").is_file():
            return str(place), True
    if (folder / ADAPTER).is_file():
        raise ModelError(
            f"{name}: holds low-rank additions only; export it whole first: "
            f"Detector.load({name!r}).export('safetensors', FOLDER)"
        )
    if folder.is_dir() or name.startswith(("/", ".", "~")):
        raise ModelError(f"{name}: no config.json in it; give the folder of a Hugging Face model")
    return name, False


def load(name: str) -> tuple[Any, Any]:
    """Load the tokenizer, and the encoder with a head for two labels."""
    transformers = need("transformers", "neural")
    tensors = need("safetensors", "neural")
    source, here = locate(name)
    with quiet():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=here)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                source, num_labels=2, local_files_only=here, id2label=dict(enumerate(LABELS)),
                label2id={label: number for number, label in enumerate(LABELS)},
            )  # fmt: skip
        except (OSError, ValueError, tensors.SafetensorError) as bad:
            cure = "is it a complete model?" if here else "give a folder, or connect to the hub once to fetch it"
            raise ModelError(f"the encoder {name!r} cannot be loaded ({reason_of(bad)}): {cure}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token_id is None:
        raise ModelError(f"the encoder {name!r} has no token to pad with: choose another")
    model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model


def widen(model: Any, heads: int) -> None:
    """Give the last layer two logits and one per corpus, or cut those of the corpora off again; new ones are zero."""
    nn = need("torch", "neural").nn
    owner = getattr(model, "classifier", None)
    owner, name = (model, "classifier") if isinstance(owner, nn.Linear) else (owner, "out_proj")
    last = getattr(owner, name, None)
    if not isinstance(last, nn.Linear):
        raise ConfigError("heads: this encoder has no linear layer at its end; train it without heads")
    wider = nn.Linear(last.in_features, len(LABELS) + heads)
    for new, old in ((wider.weight.data, last.weight.data), (wider.bias.data, last.bias.data)):
        new.zero_()[: len(LABELS)] = old[: len(LABELS)]
    setattr(owner, name, wider)


def prepare(model: nn.Module, options: TransformerOptions, sparse: bool) -> nn.Module:
    """Choose the weights to train: all, all but the lowest layers, or low-rank additions and the head.

    With `sparse` a step updates only the embeddings of the words in its batch: the embeddings are half of a
    small encoder, and a batch has a hundredth of the words.
    """
    torch = need("torch", "neural")
    if options.freeze:
        _freeze(model, options.freeze)
    if options.method == "full":
        for module in model.modules():
            if isinstance(module, torch.nn.Embedding) and module.num_embeddings >= LARGE_TABLE:
                module.sparse = sparse
        return model
    peft = need("peft", "neural")
    config = peft.LoraConfig(
        task_type="SEQ_CLS",
        r=options.rank,
        lora_alpha=2 * options.rank,
        lora_dropout=0.05 if not options.half else 0.0,
        target_modules=_upper_linear(model, options.freeze) if options.freeze else "all-linear",
    )
    try:
        adapted: nn.Module = peft.get_peft_model(model, config)
    except ValueError as bad:
        raise ConfigError(f"LoRA finds nothing to adapt in {options.encoder}: use method full ({bad})") from None
    if options.start:
        continue_from(adapted, options.start)
    return adapted


def continue_from(network: Any, start: str) -> None:
    """Put the saved low-rank additions of another training into a network prepared for its own."""
    file = Path(start).expanduser() / ADAPTER
    if not file.is_file():
        raise ConfigError(f"start {start}: no {ADAPTER} there; give the folder of a detector made with lora")
    peft = need("peft", "neural")
    saved = need("safetensors.torch", "neural").load_file(file)
    own = {name: value.shape for name, value in peft.get_peft_model_state_dict(network).items()}
    if own != {name: value.shape for name, value in saved.items()}:
        raise ConfigError(f"start {start}: its additions are of another encoder, rank or number of layers")
    peft.set_peft_model_state_dict(network, {name: value.float() for name, value in saved.items()})


def _layers(model: Any) -> Any:
    return getattr(getattr(model.base_model, "encoder", None), "layer", None)


def _upper_linear(model: Any, freeze: int) -> list[str]:
    """Return the names of the linear modules above the frozen layers."""
    linear = need("torch", "neural").nn.Linear
    upper = {id(module) for layer in _layers(model)[freeze:] for module in layer.modules()}
    return [name for name, module in model.named_modules() if isinstance(module, linear) and id(module) in upper]


def _freeze(model: Any, layers: int) -> None:
    base = model.base_model
    stack = _layers(model)
    if stack is None or layers > len(stack):
        have = "no separate layers" if stack is None else f"{len(stack)} layers"
        raise ConfigError(f"freeze {layers}: the encoder has {have}")
    for part in (base.embeddings, *stack[:layers]):
        part.requires_grad_(False)
        for module in part.modules():
            if hasattr(module, "p"):
                module.p = 0.0  # noise below the weights that learn costs time and teaches nothing


def adapter_of(model: Any) -> dict[str, Any] | None:
    """Return the low-rank additions and the head, by name; None of a model that was tuned as a whole."""
    if not hasattr(model, "merge_and_unload"):
        return None
    peft = need("peft", "neural")
    state = peft.get_peft_model_state_dict(model)
    return {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}


def adapted(model: nn.Module, options: TransformerOptions, adapter: dict[str, Any]) -> Any:
    """Return the encoder with saved low-rank additions and head, merged."""
    peft = need("peft", "neural")
    prepared = prepare(model, replace(options, start=""), sparse=False)
    peft.set_peft_model_state_dict(prepared, adapter)
    return merged(prepared)


def merged(model: Any) -> Any:
    """Return the model with LoRA weights merged, so that transformers alone can load it."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library's remarks on the new head and its progress bars."""
    logging = need("transformers", "neural").utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub = getLogger("huggingface_hub")  # logs every retry before the one error that counts
    before = hub.level
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub.setLevel(ERROR)
    try:
        yield
    finally:
        hub.setLevel(before)
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


class EncodedPairs:
    """Token ids of every pair; batches are padded to their longest row."""

    def __init__(self, tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int) -> None:
        self._pad = int(tokenizer.pad_token_id)
        self._left = tokenizer.padding_side == "left"
        self.rows = [_encode(tokenizer, context, response, limit) for context, response in pairs]
        self.lengths: NDArray[np.int64] = np.array([len(r["input_ids"]) for r in self.rows], dtype=np.int64)

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return token ids, mask, and segments for encoders that distinguish the two texts."""
        import torch

        chosen = [self.rows[row] for row in rows]
        width = max(len(row["input_ids"]) for row in chosen)
        inputs = {}
        for name in chosen[0]:
            fill = self._pad if name == "input_ids" else 0
            inputs[name] = torch.tensor([self._padded(row[name], width, fill) for row in chosen])
        return inputs

    def _padded(self, numbers: list[int], width: int, fill: int) -> list[int]:
        room = [fill] * (width - len(numbers))
        return [*room, *numbers] if self._left else [*numbers, *room]


def _encode(tokenizer: Any, context: str, response: str, limit: int) -> dict[str, list[int]]:
    """Encode one pair; if it is too long the oldest context is cut first, then the end of the response."""
    context = _without_surrogates(context[-limit * CHARACTERS_A_TOKEN :])
    response = _without_surrogates(response[: limit * CHARACTERS_A_TOKEN])
    encoded = _call(tokenizer, context, response)
    too_long = len(encoded["input_ids"]) - limit
    if too_long > 0:
        context = _without_first(tokenizer, context, too_long)
        encoded = _call(tokenizer, context, response)
        response = _without_last(tokenizer, response, len(encoded["input_ids"]) - limit)
        encoded = _call(tokenizer, context, response)
        # Cut words may have more pieces than before: truncate what is still too long.
        if len(encoded["input_ids"]) > limit:
            encoded = _call(tokenizer, context, response, truncation="longest_first", max_length=limit)
    return encoded


def _call(tokenizer: Any, context: str, response: str, **more: Any) -> dict[str, list[int]]:
    texts = (context, response) if context else (response,)
    encoded = tokenizer(*texts, verbose=False, **more)
    return {name: list(encoded[name]) for name in encoded}


def _without_first(tokenizer: Any, text: str, count: int) -> str:
    spans = _spans(tokenizer, text)
    return text[spans[count][0] :] if count < len(spans) else ""


def _without_last(tokenizer: Any, text: str, count: int) -> str:
    """Return the text without its last tokens; one is always kept."""
    spans = _spans(tokenizer, text) if count > 0 else []
    return text[: spans[max(len(spans) - count, 1) - 1][1]] if spans else text


def _spans(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the start and end of each token of a text."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return list(encoded["offset_mapping"])


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates: legal in a Python string and in JSON, but refused by tokenizers."""
    return text.encode("utf-8", "replace").decode("utf-8")


def swapped_pair(context: Context, example: Example) -> tuple[str, str]:
    """Return `Context.texts` with A and B swapped."""
    turns = context.conversation(example)
    *before, response = (render_turn(Turn(OTHER_NAME.get(t.speaker, t.speaker), t.text)) for t in turns)
    return "\n".join(before), response


def training_pairs(context: Context, examples: Sequence[Example], share: float, seed: int) -> list[tuple[str, str]]:
    """Return the pairs of all examples, about `share` of them swapped; drawn by id."""
    below = int(share * 2**64)
    return [
        swapped_pair(context, example)
        if int.from_bytes(draw(seed, f"swap {example.id}")[:8], "big") < below
        else context.texts(example)
        for example in examples
    ]
