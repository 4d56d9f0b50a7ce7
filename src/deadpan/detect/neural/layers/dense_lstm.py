"""Densely connected LSTM layers (Wu et al. 2018): each reads the words and all lower layers."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn

from deadpan.detect.neural.layers.lstm import Lstm


class DenseLstm(nn.Module):
    """`depth` LSTM layers; returns the last state of the last one."""

    def __init__(self, dimension: int, hidden: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Lstm(dimension + at * hidden, hidden) for at in range(depth))
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """rows x width x dimension -> rows x hidden"""
        read = vectors
        for layer in self.layers:
            states, last = layer(read, lengths)
            read = torch.cat([read, self.dropout(states)], dim=2)
        final: Tensor = last
        return final
