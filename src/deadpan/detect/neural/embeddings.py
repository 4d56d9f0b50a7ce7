"""The word vectors a network starts from: drawn, from a file the user has, or the embedded ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deadpan.detect.neural.vocabulary import FIRST, PAD, Vocabulary
from deadpan.errors import DataError
from deadpan.vectors import Array, Vectors

EMBEDDED = "embedded"
SPREAD = 0.3
"""Root mean square of the numbers to start from: networks of this size learn well from it, and vector
files differ in it by a factor of ten."""


def starting_vectors(vocabulary: Vocabulary, vectors: str, dimension: int, seed: int) -> Array:
    """One row a word. `vectors` is empty (drawn, of `dimension` numbers), "embedded", or a file's path.

    A file's vectors are taken whole. Of the embedded ones the first `dimension` numbers are: they were
    trained so that any first part of them is of use (Matryoshka vectors), and small networks train faster.
    """
    if not vectors:
        return _drawn(len(vocabulary), dimension, seed)
    source = Vectors.embedded() if vectors == EMBEDDED else Vectors.read(Path(vectors), vocabulary.words)
    known = source.words(vocabulary.words)
    if vectors == EMBEDDED:
        known = np.ascontiguousarray(known[:, :dimension])
    known[: len(FIRST)] = 0  # our marks are not words, whatever pieces a tokenizer finds in them
    found = known.any(axis=1)
    if not found.any():
        raise DataError(f"{vectors}: has none of the training words; is it of the same language?")
    known *= SPREAD / np.sqrt(np.mean(known[found] ** 2))
    known[~found] = _drawn(len(vocabulary), known.shape[1], seed)[~found]
    known[PAD] = 0
    return known


def _drawn(rows: int, dimension: int, seed: int) -> Array:
    generator: Any = np.random.default_rng(seed)
    drawn: Array = generator.normal(0, SPREAD, (rows, dimension)).astype(np.float32)
    drawn[PAD] = 0
    return drawn
