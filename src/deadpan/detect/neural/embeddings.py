"""Initial word vectors of a network: random, from a file, or the embedded ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deadpan.detect.neural.vocabulary import FIRST, PAD, Vocabulary
from deadpan.errors import DataError
from deadpan.vectors import Array, Vectors

EMBEDDED = "embedded"
SPREAD = 0.3
"""Root mean square of the initial values: networks of this size learn well from it, and vector files differ
in it by a factor of ten."""


def starting_vectors(vocabulary: Vocabulary, vectors: str, dimension: int, seed: int) -> Array:
    """Return one row per word. `vectors` is empty (random, of size `dimension`), "embedded", or a path.

    Vectors of a file are used whole. Of the embedded ones the first `dimension` values are used: they were
    trained so that any prefix is useful (Matryoshka vectors), and small networks train faster.
    """
    if not vectors:
        return _random(len(vocabulary), dimension, seed)
    source = Vectors.embedded() if vectors == EMBEDDED else Vectors.read(Path(vectors), vocabulary.words)
    known = source.words(vocabulary.words)
    if vectors == EMBEDDED:
        known = np.ascontiguousarray(known[:, :dimension])
    known[: len(FIRST)] = 0  # our special tokens are not words
    has_vector = known.any(axis=1)
    if not has_vector.any():
        raise DataError(f"{vectors}: has none of the training words; is it of the same language?")
    known *= SPREAD / np.sqrt(np.mean(known[has_vector] ** 2))
    known[~has_vector] = _random(len(vocabulary), known.shape[1], seed)[~has_vector]
    known[PAD] = 0
    return known


def _random(rows: int, dimension: int, seed: int) -> Array:
    generator: Any = np.random.default_rng(seed)
    drawn: Array = generator.normal(0, SPREAD, (rows, dimension)).astype(np.float32)
    drawn[PAD] = 0
    return drawn
