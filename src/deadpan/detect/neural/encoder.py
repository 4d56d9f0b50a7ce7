"""Encoders: locate them, load them, choose which weights are trained, encode texts; and a pass without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import Context
from deadpan.draws import draw
from deadpan.errors import ConfigError, ModelError, need, reason_of
from deadpan.models import MODELS
from deadpan.models import path as model_path
from deadpan.records import Example, Turn
from deadpan.storage import read_json
from deadpan.text import render_turn

if TYPE_CHECKING:
    from torch import Tensor, nn

    from deadpan.detect.neural.transformer import TransformerOptions


LARGE_TABLE = 5_000  # embeddings from this size on are updated sparsely
LABELS = ("sincere", "sarcastic")
TUNED = "encoder"
"""The folder inside a saved detector that holds the encoder, in the library's own format."""
ADAPTER = "adapter.safetensors"
"""The file of a saved detector that holds low-rank additions instead."""
CHARACTERS_A_TOKEN = 30
"""Characters read per token that may be kept, so that a text of a megabyte costs no more than a page."""
OTHER_NAME = {"A": "B", "B": "A"}


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


# ------------------------------------------------------------ without PyTorch

Array = NDArray[np.float32]
LORA_SCALE = 2.0
"""Low-rank additions are scaled by alpha / rank, which is 2 in every training."""
WEIGHTS = "model.safetensors"
LIBRARIES = ("tokenizers", "safetensors", "threadpoolctl")
NUMBERS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
TOGETHER = 256
"""Tokens computed at once: the weights are then read once for many texts, and what is computed fits a cache."""
AS_IN_BERT = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
    "classifier.dense.": "pooler.dense.",
    "classifier.out_proj.": "classifier.",
}
"""MPNet's names of the parts that it shares with BERT."""
FIRST_POSITION = {"bert": 0, "mpnet": 2}  # MPNet counts from behind the id of its padding, as RoBERTa does
FARTHEST = 128  # MPNet tells distances apart up to this many tokens


class PlainEncoder:
    """The forward pass of a BERT or MPNet classifier whose additions were saved by `Transformer.save`."""

    def __init__(self, source: Path, adapter: Path, limit: int) -> None:
        config = read_json(source / "config.json")
        self._w = _merged(_mapped(source / WEIGHTS), _mapped(adapter))
        self._heads, self._layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self._small = float(config["layer_norm_eps"])
        self._tokenizer = PlainTokenizer(source)
        self._first = FIRST_POSITION[config["model_type"]]
        self._limit = min(limit, int(config["max_position_embeddings"]) - self._first)

    @classmethod
    def read(cls, folder: Path, options: TransformerOptions) -> Self | None:
        """Return the encoder of a saved detector, or None where it is of another kind."""
        adapter = folder / ADAPTER
        if not adapter.is_file() or not all(map(find_spec, LIBRARIES)):
            return None
        source, here = locate(options.encoder)
        place = Path(source)
        if not here or not all((place / name).is_file() for name in (WEIGHTS, "tokenizer.json")):
            return None
        config = read_json(place / "config.json")
        usual = config.get("hidden_act") == "gelu" and config.get("model_type") in FIRST_POSITION
        return cls(place, adapter, options.max_tokens) if usual else None

    def margins(self, pairs: Sequence[tuple[str, str]], heads: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the logit of sarcastic minus that of sincere for context and response, by the corpora's heads."""
        encoded = EncodedPairs(self._tokenizer, pairs, self._limit)
        owners = np.full(len(encoded.rows), -1) if heads is None else heads
        parts = np.cumsum(encoded.lengths) // TOGETHER
        # Few texts make matrices so small that threads only wait for each other: eight times as long.
        with need("threadpoolctl", "neural").threadpool_limits(1, "blas"):
            logits = [
                self._logits([encoded.rows[row] for row in np.flatnonzero(parts == part)]) for part in np.unique(parts)
            ]
        known = np.concatenate(logits).astype(np.float64)
        own = np.where(owners >= 0, known[np.arange(len(known)), 2 + owners], 0.0) if heads is not None else 0.0
        margins: NDArray[np.float64] = known[:, 1] - known[:, 0] + own
        return margins

    def _logits(self, rows: Sequence[Mapping[str, list[int]]]) -> Array:
        """Return the logits of texts whose tokens are stacked, without padding."""
        w = self._w
        lengths = [len(row["input_ids"]) for row in rows]
        ends = np.cumsum(lengths)
        texts = [slice(end - length, end) for length, end in zip(lengths, ends, strict=True)]
        states = w["embeddings.word_embeddings.weight"][np.concatenate([row["input_ids"] for row in rows])]
        if (segments := w.get("embeddings.token_type_embeddings.weight")) is not None:
            states = states + segments[np.concatenate([row["token_type_ids"] for row in rows])]
        places = np.concatenate([np.arange(length) for length in lengths])
        states = states + w["embeddings.position_embeddings.weight"][places + self._first]
        states = self._norm(states, "embeddings.LayerNorm")
        nearness = self._nearness(max(lengths))
        for number in range(self._layers):
            states = self._layer(states, texts, nearness, f"encoder.layer.{number}")
        # The first token of each text stands for the whole.
        pooled = np.tanh(self._dense(states[ends - lengths], "pooler.dense"))
        return self._dense(pooled, "classifier")

    def _nearness(self, tokens: int) -> Array:
        """Return what each head adds for the distance of two tokens: nothing in BERT."""
        table = self._w.get("encoder.relative_attention_bias.weight")
        if table is None:
            return np.zeros((1, tokens, tokens), dtype=np.float32)
        side = len(table) // 2
        exact = side // 2
        distance = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
        size = np.abs(distance)
        far = np.log(np.maximum(size, 1) / exact) / np.log(FARTHEST / exact) * (side - exact)
        bucket = np.where(size < exact, size, np.minimum(exact + far.astype(np.int64), side - 1))
        added: Array = table[bucket + side * (distance > 0)].transpose(2, 0, 1)
        return added

    def _layer(self, states: Array, texts: Sequence[slice], nearness: Array, name: str) -> Array:
        mixed = self._attend(states, texts, nearness, f"{name}.attention.self")
        attended = self._dense(mixed, f"{name}.attention.output.dense")
        states = self._norm(states + attended, f"{name}.attention.output.LayerNorm")
        wide = _gelu(self._dense(states, f"{name}.intermediate.dense"))
        return self._norm(states + self._dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attend(self, states: Array, texts: Sequence[slice], nearness: Array, name: str) -> Array:
        tokens, width = states.shape
        query, key, value = (
            self._dense(states, f"{name}.{part}").reshape(tokens, self._heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        mixed = np.empty_like(query)
        for text in texts:
            length = text.stop - text.start
            match = query[:, text] @ key[:, text].transpose(0, 2, 1) / np.float32(np.sqrt(width // self._heads))
            match += nearness[:, :length, :length]
            shares = np.exp(match - match.max(axis=-1, keepdims=True))
            mixed[:, text] = (shares / shares.sum(axis=-1, keepdims=True)) @ value[:, text]
        joined: Array = mixed.transpose(1, 0, 2).reshape(tokens, width)
        return joined

    def _dense(self, states: Array, name: str) -> Array:
        result: Array = states @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"]
        return result

    def _norm(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._small)
        even: Array = centred / spread * self._w[f"{name}.weight"] + self._w[f"{name}.bias"]
        return even


class PlainTokenizer:
    """The tokenizer's own file, called as the transformers library calls it."""

    padding_side = "right"
    pad_token_id = 0

    def __init__(self, source: Path) -> None:
        kind = need("tokenizers", "neural").Tokenizer
        self._tokenizer: Any = kind.from_file(str(source / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def __call__(
        self,
        *texts: str,
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        verbose: bool = False,
        truncation: str = "",
        max_length: int = 0,
    ) -> dict[str, list[Any]]:
        """Return ids, segments and, if asked for, the start and end of each token."""
        if truncation:
            self._tokenizer.enable_truncation(max_length, strategy=truncation)
        encoded = self._tokenizer.encode(*texts, add_special_tokens=add_special_tokens)
        self._tokenizer.no_truncation()
        named = {"input_ids": list(encoded.ids), "token_type_ids": list(encoded.type_ids)}
        return {**named, "offset_mapping": list(encoded.offsets)} if return_offsets_mapping else named


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by their names in BERT: nothing is read before it is used."""
    with path.open("rb") as file:
        start = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start))
    header.pop("__metadata__", None)
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + start)
    tensors = {}
    for name, about in header.items():
        known = name.removeprefix("base_model.model.").removeprefix("bert.").removeprefix("mpnet.")
        for theirs, ours in AS_IN_BERT.items():
            known = known.replace(theirs, ours)
        low, high = about["data_offsets"]
        tensors[known] = np.asarray(data[low:high]).view(NUMBERS[about["dtype"]]).reshape(about["shape"])
    return tensors


def _merged(weights: Mapping[str, NDArray[Any]], adapter: Mapping[str, NDArray[Any]]) -> dict[str, Array]:
    """Return the weights with the additions added, and the head."""
    own = {name: value.astype(np.float32) for name, value in adapter.items()}
    merged = dict(weights)
    for name, value in own.items():
        if name.endswith(".lora_B.weight"):
            target = name.removesuffix(".lora_B.weight")
            down = own[f"{target}.lora_A.weight"]
            merged[f"{target}.weight"] = merged[f"{target}.weight"] + LORA_SCALE * (value @ down)
        elif ".lora_" not in name:
            merged[name] = value
    return merged


def _gelu(x: Array) -> Array:
    """Return x times the normal distribution function (Abramowitz and Stegun 7.1.26, error below 2e-7)."""
    size = np.abs(x) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    error = np.sign(x) * (1 - series * np.exp(-(size**2)))
    result: Array = (x * 0.5 * (1 + error)).astype(np.float32)
    return result
