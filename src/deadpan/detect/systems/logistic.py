"""Logistic regression over an implicit matrix, made of blocks: only products with it are computed.

A row of n-grams is the sum of their values, divided by the root of the sum of their squares, repeats
included. So the score of a text is a sum over its n-grams, and character n-grams are computed once per word,
however many texts it is in: training multiplies by texts x words and by words x n-grams, never by their
product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.systems.ngrams import Keys, Places
from deadpan.errors import need

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = NDArray[np.float64]
ROUNDS = 100
TOLERANCE = 1e-5
REMEMBERED = 6
Labels = NDArray[np.bool_]
TINY = 1e-12


class Block(Protocol):
    """Some columns of a matrix of examples by features."""

    @property
    def width(self) -> int: ...

    def forward(self, weights: Array) -> Array: ...

    def backward(self, slopes: Array) -> Array:
        """The transposed matrix times a vector."""
        ...


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights by block, and the intercept."""

    weights: list[Array]
    intercept: float

    def margins(self, blocks: Sequence[Block]) -> Array:
        """Return the margin of each row: above 0 is sarcastic."""
        total: Array = sum((block.forward(w) for block, w in zip(blocks, self.weights, strict=True)), np.zeros(1))
        return total + self.intercept


def fit_logistic(
    blocks: Sequence[Block],
    labels: NDArray[np.bool_],
    strength: float,
    rounds: int = ROUNDS,
    weights: Array | None = None,
    offset: Array | None = None,
) -> Fitted:
    """Return the weights that minimise the regularised log loss; the intercept is not regularised.

    `weights` are those of the rows, 1 where none are given; `offset` is a margin that each row has already.

    Our own L-BFGS, since scikit-learn's needs the matrix itself. Margins are linear in the step, so a whole line
    search costs one product with the matrix, and the loss is convex, so Newton's method finds the best step in one
    dimension: a third of the time of scipy.optimize's L-BFGS-B, which pays two products for each try.
    """
    threadpool_limits = need("threadpoolctl", "train").threadpool_limits

    # Sums over long vectors are slower with several threads, above all on a busy machine.
    with threadpool_limits(1):
        costs = strength * (np.ones(len(labels)) if weights is None else weights)
        return _fit_in_one_thread(blocks, labels, costs, np.zeros(1) if offset is None else offset, rounds)


def _fit_in_one_thread(
    blocks: Sequence[Block], labels: NDArray[np.bool_], costs: Array, offset: Array, rounds: int
) -> Fitted:
    signs = np.where(labels, 1.0, -1.0)
    ends = np.cumsum([block.width for block in blocks])
    vector = np.zeros(int(ends[-1]) + 1)
    margins = np.zeros(len(labels)) + offset
    memory = _Memory()
    gradient = _gradient(blocks, vector, signs, margins, costs)
    value = float(costs @ np.logaddexp(0, -signs * margins))
    for _ in range(rounds):
        direction = -memory.times(gradient)
        parts = np.split(direction[:-1], ends[:-1])
        change = direction[-1] + sum(b.forward(w) for b, w in zip(blocks, parts, strict=True))
        step, lower = _best_step(vector, direction, signs * margins, signs * change, costs)
        if not step or value - lower <= TOLERANCE * max(abs(value), 1.0):
            break
        value = lower
        vector += step * direction
        margins += step * change
        last, gradient = gradient, _gradient(blocks, vector, signs, margins, costs)
        memory.add(step * direction, gradient - last)
    return Fitted([part.copy() for part in np.split(vector[:-1], ends[:-1])], float(vector[-1]))


def _gradient(blocks: Sequence[Block], vector: Array, signs: Array, margins: Array, costs: Array) -> Array:
    slopes = -costs * signs / (1 + np.exp(np.clip(signs * margins, -60, 60)))
    gradient = np.concatenate([*(block.backward(slopes) for block in blocks), [slopes.sum()]])
    gradient[:-1] += vector[:-1]
    return gradient


def _best_step(vector: Array, direction: Array, signed: Array, change: Array, costs: Array) -> tuple[float, float]:
    """Return the best step along a direction, and the loss there."""
    straight, square = float(vector[:-1] @ direction[:-1]), float(direction[:-1] @ direction[:-1])
    length = float(vector[:-1] @ vector[:-1])
    step = 1.0
    for _ in range(8):
        wrong = 1 / (1 + np.exp(np.clip(signed + step * change, -60, 60)))
        slope = -float((costs * wrong) @ change) + straight + step * square
        curve = float((costs * wrong * (1 - wrong)) @ (change * change)) + square
        if curve <= 0:
            return 0.0, 0.0
        # Far from the optimum Newton may step below 0; a tenth keeps the direction.
        step, before = max(step - slope / curve, step / 10), step
        if abs(step - before) < 1e-3 * before:
            break
    loss = float(costs @ np.logaddexp(0, -(signed + step * change)))
    return step, loss + 0.5 * (length + 2 * step * straight + step * step * square)


class _Memory:
    """The last few steps and the changes of the gradient along them: an estimate of the curvature."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Array, Array, float]] = []

    def add(self, step: Array, change: Array) -> None:
        product = float(step @ change)
        if product > 0:  # rounding near the optimum may give a change without curvature
            self.pairs = [*self.pairs[-REMEMBERED + 1 :], (step, change, product)]

    def times(self, gradient: Array) -> Array:
        """Return the inverse curvature times the gradient (Nocedal's two-loop recursion)."""
        result = gradient.copy()
        shares = []
        for step, change, product in reversed(self.pairs):
            shares.append(float(step @ result) / product)
            result -= shares[-1] * change
        if self.pairs:
            _, change, product = self.pairs[-1]
            result *= product / float(change @ change)
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            result += (share - float(change @ result) / product) * step
        return result


def fit_scale(margins: Array, labels: NDArray[np.bool_], weights: Array | None = None) -> tuple[float, float]:
    """Return the slope and shift that turn margins into probabilities (Platt 1999, his targets)."""
    weights = np.ones(len(labels)) if weights is None else weights
    n_true, n_false = int(labels.sum()), int((~labels).sum())
    target = np.where(labels, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    slope, shift = 1.0, float(np.log((n_true + 1) / (n_false + 1)) - margins.mean())
    columns = np.stack([margins, np.ones_like(margins)], axis=1)
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-np.clip(slope * margins + shift, -60, 60)))
        gradient = columns.T @ (weights * (fitted - target)) + np.array([1e-3 * (slope - 1), 0.0])
        curve = (columns * (weights * fitted * (1 - fitted))[:, None]).T @ columns + np.diag([1e-3, 1e-9])
        step = np.linalg.solve(curve, gradient)
        step /= max(1.0, float(np.abs(step).max()) / 2)  # far from the optimum a full step may overshoot
        slope, shift = slope - float(step[0]), shift - float(step[1])
        if np.abs(step).max() < 1e-6:
            break
    return max(slope, 1e-3), shift


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
        csr_matrix = need("scipy.sparse", "train").csr_matrix

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
        return replace(self, counts=self.counts[chosen], scale=self.scale[chosen])

    def valued(self, value: Array) -> GramBlock:
        """Return the block with these n-gram values, rows rescaled to length `share`."""
        squares = self._down(value**2)
        scale = self.share / np.sqrt(np.maximum(squares, TINY))
        return replace(self, value=value, scale=np.where(squares > TINY, scale, 0.0))

    def rarity(self) -> Array:
        """Return the inverse document frequency of each n-gram."""
        n = self.counts.shape[0]
        often = np.minimum(self._up(np.ones(n)), n)  # through words, a text may count an n-gram more than once
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
        return DenseBlock(self.matrix[chosen])

    def forward(self, weights: Array) -> Array:
        result: Array = self.matrix @ weights
        return result

    def backward(self, slopes: Array) -> Array:
        result: Array = self.matrix.T @ slopes
        return result


def _counted(rows: Places, keys: Keys, n: int, often: Array, least: int) -> tuple[Keys, csr_matrix]:
    """Return the keys that occur often enough, sorted, and the matrix of rows by keys."""
    csr_matrix = need("scipy.sparse", "train").csr_matrix

    distinct, column = np.unique(keys, return_inverse=True)
    enough = np.bincount(column, weights=often, minlength=len(distinct)) >= least
    renamed = np.cumsum(enough) - 1
    used = enough[column]
    matrix = csr_matrix(
        (np.ones(int(used.sum()), np.float32), (rows[used], renamed[column[used]])), shape=(n, int(enough.sum()))
    )
    return distinct[enough], matrix
