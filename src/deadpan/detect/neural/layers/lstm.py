"""A unidirectional LSTM."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn


class Lstm(nn.Module):
    """The state at every word, and the one at each row's last word.

    Padding is on the right and reading goes to the right, so padding cannot influence earlier states: rows
    need not be packed, and the state of the last word is selected by its position.
    """

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.cell = nn.LSTM(dimension, hidden, batch_first=True)
        # A forget bias of 1 helps to learn over longer distances (Jozefowicz et al. 2015).
        weights = dict(self.cell.named_parameters())
        with torch.no_grad():
            weights["bias_ih_l0"][hidden : 2 * hidden].fill_(1.0)
            weights["bias_hh_l0"].zero_()

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """rows x width x dimension -> rows x width x hidden, rows x hidden"""
        states, _ = self.cell(vectors)
        return states, states[torch.arange(len(lengths), device=lengths.device), lengths - 1]
