"""Universal Sentence Encoder, multilingual (version 3): 512 numbers per text in 16 languages, in NumPy.

A piece of a word is a vector of 512 numbers. Three branches of two convolutions each see 2, 3 and 5
neighbouring pieces; pieces and branches are summed over the text, divided by the root of its length, and
pass through four dense layers. The table is stored in 8 bits: piece p is row p // 17 of part p % 17.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.errors import need

Array = NDArray[np.float32]
PARTS = 17
BRANCHES = {2: 0, 3: 1, 5: 2}
"""Pieces that a branch sees, and how many of them are to the left."""
MOST_PIECES = 512
TOGETHER = 2_000
"""Pieces computed at once: the weights are read from memory once for many texts."""
GAP = max(BRANCHES)
"""Rows of zeros after each text, so that no branch sees the next one."""


class UniversalEncoder:
    """The weights of `deadpan models pull use-multilingual`."""

    dimension = 512

    def __init__(self, folder: Path) -> None:
        pieces = need("sentencepiece", "neural")
        self._pieces: Any = pieces.SentencePieceProcessor(model_file=str(folder / "sp.model"))
        with np.load(folder / "weights.npz", allow_pickle=False) as file:
            self._w = {name: file[name] for name in file.files if not name.startswith("q")}
            self._table = np.empty((PARTS * len(file["q1"]), self.dimension), dtype=np.uint8)
            for part in range(PARTS):
                self._table[part::PARTS] = file[f"q{part + 1}"]
        self._small = float(self._w["eps"])

    def encode(self, texts: Sequence[str]) -> Array:
        """Return one row of length 1 per text."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        batch: list[NDArray[np.int64]] = []
        for number, text in enumerate(texts, 1):
            batch.append(self._ids(text))
            if sum(map(len, batch)) >= TOGETHER or number == len(texts):
                rows[number - len(batch) : number] = self._encode(batch)
                batch = []
        return rows

    def _ids(self, text: str) -> NDArray[np.int64]:
        readable = text[: MOST_PIECES * 30].encode("utf-8", "replace").decode("utf-8")
        ids = self._pieces.encode(readable, out_type=int)[: MOST_PIECES - 2]
        return np.array([self._pieces.bos_id(), *ids, self._pieces.eos_id()], dtype=np.int64)

    def _encode(self, batch: Sequence[NDArray[np.int64]]) -> Array:
        w = self._w
        lengths = np.array([len(ids) for ids in batch])
        ends = np.cumsum(lengths + GAP) - GAP
        inside = np.zeros(int(ends[-1]) + GAP, dtype=bool)
        for end, length in zip(ends, lengths, strict=True):
            inside[end - length : end] = True
        ids = np.concatenate(batch)
        part = ids % PARTS
        pieces = self._table[ids] * w["scale"][part, None] + w["lo"][part, None]
        starts = self._norm(
            np.hstack([pieces @ w[f"proj{size}"] + w[f"proj_b{size}"] for size in BRANCHES]),
            np.concatenate([w[f"ln_g{size}"] for size in BRANCHES]),
            np.concatenate([w[f"ln_b{size}"] for size in BRANCHES]),
        )
        branches = [
            self._branch(start, inside, size, left)
            for start, (size, left) in zip(np.split(starts, len(BRANCHES), 1), BRANCHES.items(), strict=True)
        ]
        even = self._norm(np.hstack([pieces, *branches]), w["ln_g"], w["ln_b"])
        summed = np.add.reduceat(even, np.cumsum(lengths) - lengths, axis=0) @ w["cnn_W"]
        whole = (summed + lengths[:, None] * w["cnn_b"]) / np.sqrt(lengths)[:, None]
        return self._dense(whole.astype(np.float32))

    def _dense(self, whole: Array) -> Array:
        w = self._w
        first = np.maximum(whole @ w["d0"], 0)
        second = np.maximum(whole @ w["p1"] + first @ w["d1"], 0)
        third = np.maximum(second @ w["d2"], 0)
        last = np.tanh(second @ w["p3"] + third @ w["d3"])
        unit: Array = last / np.sqrt(np.maximum((last**2).sum(axis=1, keepdims=True), self._small))
        return unit

    def _branch(self, start: Array, inside: NDArray[np.bool_], size: int, left: int) -> Array:
        """Return two convolutions, each added to what it was computed from."""
        for step in ("1", "2"):
            spread = np.zeros((len(inside), start.shape[1]), dtype=np.float32)
            spread[inside] = start
            seen = _neighbours(spread, size, left)[inside]
            start = start + np.maximum(seen @ self._w[f"w{step}_{size}"] + self._w[f"b{step}_{size}"], 0)
        return start

    def _norm(self, rows: Array, scale: Array, shift: Array) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self._small)
        even: Array = centred / spread * scale + shift
        return even


def _neighbours(rows: Array, size: int, left: int) -> Array:
    """Return each row beside the `left` rows before it and the rest of `size` after it; zeros outside."""
    padded = np.pad(rows, ((left, size - 1 - left), (0, 0)))
    return np.hstack([padded[at : at + len(rows)] for at in range(size)])
