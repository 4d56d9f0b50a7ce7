"""An encoder with low-rank additions in NumPy: it answers before PyTorch would be loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.transformer.encoder import ADAPTER, EncodedPairs, TransformerOptions, locate
from deadpan.errors import need
from deadpan.storage import read_json

Array = NDArray[np.float32]
FEW = 64
"""Texts up to which NumPy is quicker than loading PyTorch."""
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
FIRST_POSITION = {"bert": 0, "mpnet": 2}
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
