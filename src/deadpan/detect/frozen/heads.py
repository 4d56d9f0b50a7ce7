"""A head per corpus: weights that all corpora share, and weights of each corpus beside them (Daumé 2007).

Who called a text sarcastic differs by corpus: its author, a hashtag, other people. What is common to all
answers is learned by the shared weights, and the rest by a corpus's own, so that one corpus does not have to
unlearn what another says. A text of an unknown corpus is judged by the shared weights alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.keys import Places
from deadpan.records import Example

Array = NDArray[np.float64]
UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class HeadsBlock:
    """Columns of examples and the corpus of each; the weights are those of all, then of each corpus."""

    matrix: Array
    corpus: NDArray[np.int64]
    corpora: int

    @classmethod
    def of(cls, columns: Array, examples: Sequence[Example], corpora: Sequence[str]) -> HeadsBlock:
        """Return the columns with a constant beside them, so that each corpus has a base rate of its own."""
        places = {name: place for place, name in enumerate(corpora)}
        corpus = np.array([places.get(e.source, UNKNOWN) for e in examples], dtype=np.int64)
        constant = np.full((len(columns), 1), 0.1)
        return cls(np.hstack([columns, constant]), corpus, len(corpora))

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1]) * (1 + self.corpora)

    def rows(self, chosen: Places) -> HeadsBlock:
        """Return some of the rows."""
        return HeadsBlock(self.matrix[chosen], self.corpus[chosen], self.corpora)

    def forward(self, weights: Array) -> Array:
        """Return the shared margin and that of the row's own corpus."""
        heads = weights.reshape(1 + self.corpora, -1)
        result: Array = self.matrix @ heads[0]
        for number in range(self.corpora):
            mine = self.corpus == number
            result[mine] += self.matrix[mine] @ heads[1 + number]
        return result

    def backward(self, slopes: Array) -> Array:
        """Return the gradient of all weights."""
        parts = [self.matrix.T @ slopes]
        for number in range(self.corpora):
            mine = self.corpus == number
            parts.append(self.matrix[mine].T @ slopes[mine])
        return np.concatenate(parts)
