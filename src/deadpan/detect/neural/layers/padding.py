"""Masks of padded batches."""

from __future__ import annotations

import torch
from torch import Tensor


def places(lengths: Tensor, width: int) -> Tensor:
    """Return True where a row has a word: rows x width."""
    return torch.arange(width, device=lengths.device)[None, :] < lengths[:, None]


def softmax_over_words(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return the softmax over the words of each row; padding gets 0."""
    padding = ~places(lengths, scores.shape[1])
    return torch.softmax(scores.masked_fill(padding, torch.finfo(scores.dtype).min), dim=1)


def weighted_sum(states: Tensor, shares: Tensor) -> Tensor:
    """Return the sum of a row's states, each times its share: rows x dimension."""
    return torch.bmm(shares[:, None, :], states)[:, 0, :]
