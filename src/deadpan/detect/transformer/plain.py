"""A small encoder with low-rank additions in NumPy: it answers before PyTorch would be loaded."""

from __future__ import annotations

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
"""Texts up to which NumPy, one text at a time, is quicker than loading PyTorch."""
LORA_SCALE = 2.0
"""Low-rank additions are scaled by alpha / rank, which is 2 in every training."""
WEIGHTS = "model.safetensors"
LIBRARIES = ("tokenizers", "safetensors")


class PlainEncoder:
    """The forward pass of a BERT classifier whose additions were saved by `Transformer.save`."""

    def __init__(self, source: Path, adapter: Path, limit: int) -> None:
        config = read_json(source / "config.json")
        read = need("safetensors.numpy", "neural").load_file
        weights = {name.removeprefix("bert."): value for name, value in read(source / WEIGHTS).items()}
        self._w = _merged(weights, read(adapter))
        self._heads, self._layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self._small = float(config["layer_norm_eps"])
        self._tokenizer = PlainTokenizer(source)
        self._limit = min(limit, int(config["max_position_embeddings"]))

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
        usual = config.get("hidden_act") == "gelu" and config.get("model_type") == "bert"
        return cls(place, adapter, options.max_tokens) if usual else None

    def margins(self, pairs: Sequence[tuple[str, str]], heads: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the logit of sarcastic minus that of sincere for context and response, by the corpora's heads."""
        rows = EncodedPairs(self._tokenizer, pairs, self._limit).rows
        owners = np.full(len(rows), -1) if heads is None else heads
        # One text makes matrices so small that threads only wait for each other: eight times as long.
        with need("threadpoolctl", "neural").threadpool_limits(1, "blas"):
            known = zip(rows, owners, strict=True)
            return np.array([self._margin(row["input_ids"], row["token_type_ids"], head) for row, head in known])

    def _margin(self, ids: Sequence[int], segments: Sequence[int], head: int) -> float:
        w = self._w
        states = w["embeddings.word_embeddings.weight"][ids]
        states = states + w["embeddings.token_type_embeddings.weight"][segments]
        states = states + w["embeddings.position_embeddings.weight"][: len(ids)]
        states = self._norm(states, "embeddings.LayerNorm")
        for number in range(self._layers):
            states = self._layer(states, f"encoder.layer.{number}")
        pooled = np.tanh(self._dense(states[:1], "pooler.dense"))
        sincere, sarcastic, *own = self._dense(pooled, "classifier")[0]
        return float(sarcastic) - float(sincere) + (float(own[head]) if head >= 0 else 0.0)

    def _layer(self, states: Array, name: str) -> Array:
        mixed = self._attend(states, f"{name}.attention.self")
        attended = self._dense(mixed, f"{name}.attention.output.dense")
        states = self._norm(states + attended, f"{name}.attention.output.LayerNorm")
        wide = _gelu(self._dense(states, f"{name}.intermediate.dense"))
        return self._norm(states + self._dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attend(self, states: Array, name: str) -> Array:
        tokens, width = states.shape
        query, key, value = (
            self._dense(states, f"{name}.{part}").reshape(tokens, self._heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        match = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(width // self._heads))
        shares = np.exp(match - match.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
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


def _merged(weights: Mapping[str, Array], adapter: Mapping[str, NDArray[Any]]) -> dict[str, Array]:
    """Return the weights with the additions added, and the head."""
    own = {
        name.removeprefix("base_model.model.").removeprefix("bert."): value.astype(np.float32)
        for name, value in adapter.items()
    }
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
