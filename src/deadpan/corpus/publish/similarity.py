"""Similarity of two replies: the cosine of their normalised sums of word vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deadpan.corpus.settings import EMBEDDED
from deadpan.errors import ConfigError
from deadpan.text import sarc_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deadpan.vectors import Vectors


def check_vectors(name: str) -> None:
    """Raise an error if the vectors are missing: now, not after hours of reading dumps."""
    if name == EMBEDDED:
        from deadpan.vectors import find_embedded

        find_embedded()
    elif not Path(name).is_file():
        raise ConfigError(
            f"vectors {name!r}: no such file; give a GloVe file, or {EMBEDDED} for deadpan's own vectors"
        )


class WordSums:
    """Cosine similarities from word vectors; of a file, only the vectors of the given words are read."""

    def __init__(self, name: str, texts: Iterable[str]) -> None:
        from deadpan.vectors import Vectors

        if name == EMBEDDED:
            self.vectors: Vectors = Vectors.embedded()
        else:
            words = {token for text in texts for token in sarc_tokens(text)}
            self.vectors = Vectors.read(Path(name), words)

    def __call__(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
        """Return a cosine per pair, computed row by row, so that it does not depend on the other pairs."""
        one = self.vectors.sentences(left, pool="sum")
        other = self.vectors.sentences(right, pool="sum")
        cosines: NDArray[np.float32] = (one * other).sum(axis=1)
        return cosines
