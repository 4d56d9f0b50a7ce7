"""Feature blocks of the linear system: weighted n-grams, rows of length one, and a few dense columns.

A row is the sum of its n-grams' values, divided by the root of the sum of their squares, repeats included.
So the score of a text is a sum over its n-grams, and character n-grams are computed once per word, however
many texts it is in: training multiplies by texts x words and by words x n-grams, never by their product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.keys import Keys, Places

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.float64]
Labels = NDArray[np.bool_]
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class GramBlock:
    """Rows of n-grams. `through` is words x n-grams where the rows are texts x words."""

    counts: csr_matrix
    through: csr_matrix | None
    keys: Keys
    share: float
    value: Array
    scale: Array

    @classmethod
    def of(cls, rows: Places, keys: Keys, n: int, least: int, share: float = 1.0) -> Self:
        """Return texts by n-grams, of those that occur `least` times."""
        kept, matrix = _counted(rows, keys, n, np.ones(len(rows)), least)
        return cls(matrix, None, kept, share, np.ones(len(kept)), np.ones(n))

    @classmethod
    def by_word(
        cls, texts: tuple[Places, Places, int], runs: tuple[Places, Keys], least: int, share: float = 1.0
    ) -> Self:
        """Return texts by words (text, word, number of words) and words by n-grams."""
        from scipy.sparse import csr_matrix

        rows, words, n_words = texts
        n = int(rows.max(initial=-1)) + 1
        often = np.bincount(words, minlength=n_words).astype(np.float64)
        kept, through = _counted(runs[0], runs[1], n_words, often[runs[0]], least)
        counts = csr_matrix((np.ones(len(rows), np.float32), (rows, words)), shape=(n, n_words))
        return cls(counts, through, kept, share, np.ones(len(kept)), np.ones(n))

    @property
    def width(self) -> int:
        return len(self.keys)

    def sized(self, n: int) -> GramBlock:
        """Return the block with empty rows appended, for texts without a word."""
        counts = self.counts.copy()
        counts.resize((n, counts.shape[1]))
        return replace(self, counts=counts, scale=np.ones(n))

    def rows(self, chosen: Places) -> GramBlock:
        """Return some of the rows."""
        return replace(self, counts=self.counts[chosen], scale=self.scale[chosen])

    def valued(self, value: Array) -> GramBlock:
        """Return the block with these n-gram values, rows rescaled to length `share`."""
        squares = self._down(value**2)
        scale = self.share / np.sqrt(np.maximum(squares, TINY))
        return replace(self, value=value, scale=np.where(squares > TINY, scale, 0.0))

    def rarity(self) -> Array:
        """Return the inverse document frequency of each n-gram."""
        n = self.counts.shape[0]
        often = np.minimum(self._up(np.ones(n)), n)
        value: Array = np.log((1 + n) / (1 + often)) + 1
        return value

    def contrast(self, labels: Labels) -> Array:
        """Return the absolute log-count ratio of each n-gram (Wang and Manning 2012)."""
        true = self._up(labels.astype(np.float64)) + 1
        false = self._up((~labels).astype(np.float64)) + 1
        value: Array = np.abs(np.log(true / true.sum() * false.sum() / false))
        return value

    def forward(self, weights: Array) -> Array:
        return self.scale * self._down(self.value * weights)

    def backward(self, slopes: Array) -> Array:
        return self.value * self._up(self.scale * slopes)

    # Single precision: the products are bound by memory, and seven digits are enough for a gradient.

    def _down(self, vector: Array) -> Array:
        short = vector.astype(np.float32)
        result = self.counts @ (short if self.through is None else self.through @ short)
        return np.asarray(result, dtype=np.float64)

    def _up(self, vector: Array) -> Array:
        result = self.counts.T @ vector.astype(np.float32)
        return np.asarray(result if self.through is None else self.through.T @ result, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class DenseBlock:
    """A few columns of standardised numbers."""

    matrix: Array

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def rows(self, chosen: Places) -> DenseBlock:
        """Return some of the rows."""
        return DenseBlock(self.matrix[chosen])

    def forward(self, weights: Array) -> Array:
        result: Array = self.matrix @ weights
        return result

    def backward(self, slopes: Array) -> Array:
        result: Array = self.matrix.T @ slopes
        return result


def _counted(rows: Places, keys: Keys, n: int, often: Array, least: int) -> tuple[Keys, csr_matrix]:
    """Return the keys that occur often enough, sorted, and the matrix of rows by keys."""
    from scipy.sparse import csr_matrix

    distinct, column = np.unique(keys, return_inverse=True)
    enough = np.bincount(column, weights=often, minlength=len(distinct)) >= least
    renamed = np.cumsum(enough) - 1
    used = enough[column]
    matrix = csr_matrix(
        (np.ones(int(used.sum()), np.float32), (rows[used], renamed[column[used]])),
        shape=(n, int(enough.sum())),
    )
    return distinct[enough], matrix
