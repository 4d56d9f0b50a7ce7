"""Filters over neighbouring words, max-pooled over the text."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from deadpan.detect.neural.layers.padding import places


class Convolution(nn.Module):
    """`filters` filters of `size` words, ReLU, the maximum over the places of the text.

    Every word is the middle of one window and the ends are padded with zeros, so a text shorter than a filter
    still has a result. A window in the padding is never the maximum.
    """

    def __init__(self, dimension: int, filters: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.filters = nn.Linear(dimension * size, filters)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """rows x width x dimension -> rows x filters"""
        width, before = vectors.shape[1], (self.size - 1) // 2
        padded = functional.pad(vectors, (0, 0, before, self.size - 1 - before))
        # Concatenate the words of a window: one matrix product is faster here than a convolution.
        windows = torch.cat([padded[:, at : at + width] for at in range(self.size)], dim=2)
        seen = torch.relu(self.filters(windows))
        outside = ~places(lengths, width)
        return seen.masked_fill(outside[:, :, None], 0.0).amax(dim=1)
