"""Batches of texts of similar length, so that there is little padding.

The rows are shuffled, divided into stretches of many batches, and sorted by length within a stretch. Rows of
one sequence can be kept in one batch, for losses over pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

STRETCH = 50
"""Batches that are sorted together."""


class Texts(Protocol):
    """Encoded texts, one row each, as the trainer needs them."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each row."""
        ...

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return the keyword arguments of the network for these rows, padded."""
        ...


@dataclass(frozen=True, slots=True)
class Training:
    """Encoded texts, their labels, and the sequence of each (empty: none)."""

    texts: Texts
    labels: NDArray[np.bool_]
    sequences: Sequence[str]


def shuffled(lengths: NDArray[np.int64], size: int, seed: int, epoch: int) -> list[list[int]]:
    """Return batches of `size` rows for one epoch; the last of a stretch may be smaller."""
    return shuffled_units([[row] for row in range(len(lengths))], lengths, size, seed, epoch)


def shuffled_units(
    units: Sequence[Sequence[int]], lengths: NDArray[np.int64], size: int, seed: int, epoch: int
) -> list[list[int]]:
    """Return batches of about `size` rows that keep the rows of a unit together."""
    random = np.random.default_rng((seed, epoch))
    longest = np.array([max(lengths[row] for row in unit) for unit in units])
    order = random.permutation(len(units))
    rows_a_unit = max(1.0, float(np.mean([len(unit) for unit in units])))
    units_a_batch = max(1, round(size / rows_a_unit))
    stretch = STRETCH * units_a_batch
    batches: list[list[int]] = []
    for start in range(0, len(order), stretch):
        part = order[start : start + stretch]
        part = part[np.argsort(longest[part], kind="stable")]
        for at in range(0, len(part), units_a_batch):
            batches.append([row for unit in part[at : at + units_a_batch] for row in units[unit]])
    return [batches[at] for at in random.permutation(len(batches))]


def sequence_units(sequences: Sequence[str]) -> list[list[int]]:
    """Return the rows of each sequence as one unit; a row without a sequence is its own unit."""
    units: dict[str, list[int]] = {}
    for row, sequence in enumerate(sequences):
        units.setdefault(sequence or f"\0{row}", []).append(row)
    return list(units.values())


def by_length(lengths: NDArray[np.int64], size: int) -> list[list[int]]:
    """Return batches of `size` rows for prediction, the longest first: memory runs out at once or never."""
    order = np.argsort(-lengths, kind="stable").tolist()
    return [order[start : start + size] for start in range(0, len(order), size)]
