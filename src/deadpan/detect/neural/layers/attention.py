"""Attention over the states of a sequence (Yang et al. 2016): a weight per word."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn

from deadpan.detect.neural.layers.padding import softmax_over_words, weighted_sum


class Attention(nn.Module):
    """share_i = softmax(q . tanh(W h_i + b)); the weighted sum of the states."""

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.look = nn.Linear(dimension, hidden)
        self.query = nn.Linear(hidden, 1, bias=False)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """rows x width x dimension -> rows x dimension"""
        scores = self.query(torch.tanh(self.look(states)))[:, :, 0]
        return weighted_sum(states, softmax_over_words(scores, lengths))
