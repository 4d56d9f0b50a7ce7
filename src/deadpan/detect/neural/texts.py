"""Texts as rows of word ids, ready for a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural.vocabulary import PAD

if TYPE_CHECKING:
    from torch import Tensor


class NumberedTexts:
    """The word ids of all texts in one array, with the length of each text."""

    def __init__(self, rows: Sequence[Sequence[int]], features: NDArray[np.float32] | None = None) -> None:
        self.lengths: NDArray[np.int64] = np.array([len(row) for row in rows], dtype=np.int64)
        self.features = features
        self._numbers = np.fromiter(
            (number for row in rows for number in row), dtype=np.int64, count=int(self.lengths.sum())
        )

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return ids padded on the right, lengths, and features if there are any."""
        import torch

        lengths = self.lengths[rows]
        width = int(lengths.max())
        places = np.arange(width)[None, :]
        inside = places < lengths[:, None]
        at = np.where(inside, self._starts[rows][:, None] + places, 0)
        numbers = np.where(inside, self._numbers[at], PAD)
        inputs = {"numbers": torch.from_numpy(numbers), "lengths": torch.from_numpy(lengths)}
        if self.features is not None:
            inputs["features"] = torch.from_numpy(self.features[rows])
        return inputs
