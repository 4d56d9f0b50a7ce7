"""Logistic regression over an implicit matrix: only products with it are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROUNDS = 100
TOLERANCE = 1e-5
REMEMBERED = 6


class Block(Protocol):
    """Some columns of a matrix of examples by features."""

    @property
    def width(self) -> int:
        """Columns."""
        ...

    def forward(self, weights: Array) -> Array:
        """The matrix times a vector."""
        ...

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
        total: Array = sum(
            (block.forward(w) for block, w in zip(blocks, self.weights, strict=True)), np.zeros(1)
        )
        return total + self.intercept


def fit_logistic(
    blocks: Sequence[Block], labels: NDArray[np.bool_], strength: float, rounds: int = ROUNDS
) -> Fitted:
    """Return the weights that minimise the regularised log loss; the intercept is not regularised.

    Our own L-BFGS: margins are linear in the step, so a whole line search costs one product with the
    matrix, and the loss is convex, so Newton's method finds the best step in one dimension.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # Sums over long vectors are slower with several threads, above all on a busy machine.
    with threadpool_limits(1):
        return _fit_in_one_thread(blocks, labels, strength, rounds)


def _fit_in_one_thread(
    blocks: Sequence[Block], labels: NDArray[np.bool_], strength: float, rounds: int
) -> Fitted:
    signs = np.where(labels, 1.0, -1.0)
    ends = np.cumsum([block.width for block in blocks])
    vector = np.zeros(int(ends[-1]) + 1)
    margins = np.zeros(len(labels))
    memory = _Memory()
    gradient = _gradient(blocks, vector, signs, margins, strength)
    value = strength * len(labels) * np.log(2)
    for _ in range(rounds):
        direction = -memory.times(gradient)
        parts = np.split(direction[:-1], ends[:-1])
        change = direction[-1] + sum(b.forward(w) for b, w in zip(blocks, parts, strict=True))
        step, lower = _best_step(vector, direction, signs * margins, signs * change, strength)
        if not step or value - lower <= TOLERANCE * max(abs(value), 1.0):
            break
        value = lower
        vector += step * direction
        margins += step * change
        last, gradient = gradient, _gradient(blocks, vector, signs, margins, strength)
        memory.add(step * direction, gradient - last)
    return Fitted([part.copy() for part in np.split(vector[:-1], ends[:-1])], float(vector[-1]))


def _gradient(blocks: Sequence[Block], vector: Array, signs: Array, margins: Array, strength: float) -> Array:
    slopes = -strength * signs / (1 + np.exp(np.clip(signs * margins, -60, 60)))
    gradient = np.concatenate([*(block.backward(slopes) for block in blocks), [slopes.sum()]])
    gradient[:-1] += vector[:-1]
    return gradient


def _best_step(
    vector: Array, direction: Array, signed: Array, change: Array, strength: float
) -> tuple[float, float]:
    """Return the best step along a direction, and the loss there."""
    straight, square = float(vector[:-1] @ direction[:-1]), float(direction[:-1] @ direction[:-1])
    length = float(vector[:-1] @ vector[:-1])
    step = 1.0
    for _ in range(8):
        wrong = 1 / (1 + np.exp(np.clip(signed + step * change, -60, 60)))
        slope = -strength * float(wrong @ change) + straight + step * square
        curve = strength * float((wrong * (1 - wrong)) @ (change * change)) + square
        if curve <= 0:
            return 0.0, 0.0
        step, before = max(step - slope / curve, step / 10), step
        if abs(step - before) < 1e-3 * before:
            break
    loss = strength * float(np.logaddexp(0, -(signed + step * change)).sum())
    return step, loss + 0.5 * (length + 2 * step * straight + step * step * square)


class _Memory:
    """The last few steps and the changes of the gradient along them: an estimate of the curvature."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Array, Array, float]] = []

    def add(self, step: Array, change: Array) -> None:
        product = float(step @ change)
        if product > 0:
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


def fit_scale(margins: Array, labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the slope and shift that turn margins into probabilities (Platt 1999, his targets)."""
    n_true, n_false = int(labels.sum()), int((~labels).sum())
    target = np.where(labels, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    slope, shift = 1.0, float(np.log((n_true + 1) / (n_false + 1)) - margins.mean())
    columns = np.stack([margins, np.ones_like(margins)], axis=1)
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-np.clip(slope * margins + shift, -60, 60)))
        gradient = columns.T @ (fitted - target) + np.array([1e-3 * (slope - 1), 0.0])
        curve = (columns * (fitted * (1 - fitted))[:, None]).T @ columns + np.diag([1e-3, 1e-9])
        step = np.linalg.solve(curve, gradient)
        step /= max(1.0, float(np.abs(step).max()) / 2)  # far from the optimum a full step may overshoot
        slope, shift = slope - float(step[0]), shift - float(step[1])
        if np.abs(step).max() < 1e-6:
            break
    return max(slope, 1e-3), shift
