"""A long short-term memory, read from left to right."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn


class Lstm(nn.Module):
    """States of every place, and the one at each row's last word.

    Padding stands on the right and the reading goes to the right, so no state before it can know of it:
    rows need not be packed, and the last word's state is picked by its place.
    """

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.cell = nn.LSTM(dimension, hidden, batch_first=True)
        # A memory that starts by keeping what it has learns over longer stretches (Jozefowicz et al. 2015).
        weights = dict(self.cell.named_parameters())
        with torch.no_grad():
            weights["bias_ih_l0"][hidden : 2 * hidden].fill_(1.0)
            weights["bias_hh_l0"].zero_()

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """rows x width x dimension -> rows x width x hidden, rows x hidden"""
        states, _ = self.cell(vectors)
        return states, states[torch.arange(len(lengths), device=lengths.device), lengths - 1]
