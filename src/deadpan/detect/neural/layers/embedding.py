"""Word ids to vectors."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn

from deadpan.detect.neural.vocabulary import PAD


class Embedding(nn.Module):
    """One row per word, the row for padding always zero.

    With `sparse` a step updates only the rows of the words in its batch, which is much faster than a dense
    table: a batch has a few hundred words, a vocabulary has tens of thousands.
    """

    def __init__(self, start: Tensor, tune: bool, sparse: bool, dropout: float) -> None:
        super().__init__()
        words, dimension = start.shape
        self.table = nn.Embedding(words, dimension, padding_idx=PAD, sparse=sparse)
        self.table.weight = nn.Parameter(start, requires_grad=tune)
        self.dropout = nn.Dropout(dropout)

    @property
    def dimension(self) -> int:
        """Size of a vector."""
        return int(self.table.weight.shape[1])

    def forward(self, numbers: Tensor) -> Tensor:
        """rows x width -> rows x width x dimension"""
        vectors: Tensor = self.dropout(self.table(numbers))
        return vectors

    def mean(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the average vector of each row's words."""
        return vectors.sum(dim=1) / lengths[:, None].to(torch.float32)
