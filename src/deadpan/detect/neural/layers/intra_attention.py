"""Attention over pairs of words of one text (Tay et al. 2018): words that clash.

Every pair has an affinity; a word's score is its largest affinity with any other word; the words are
summed by the softmax of their scores. Pairs are never built as concatenated vectors: a linear map of such a
vector is a map of the first word plus a map of the second, so each word is mapped once and pairs are sums.
The result is the same without work of the order width^2 x dimension^2.
"""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

import torch
from torch import Tensor, nn

from deadpan.detect.neural.layers.padding import places, softmax_over_words, weighted_sum


class SingleIntraAttention(nn.Module):
    """One affinity per pair: s_ij = w . [x_i; x_j] + b."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.first = nn.Linear(dimension, 1)
        self.second = nn.Linear(dimension, 1, bias=False)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """rows x width x dimension -> rows x dimension"""
        return weighted_sum(vectors, softmax_over_words(self.scores(vectors, lengths), lengths))

    def scores(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Each word's largest affinity with another word; 0 for a single word.

        s_ij = a_i + c_j, so the largest over j is a_i plus the largest c of another word: the largest of
        all, or the second largest for the word that holds the largest itself.
        """
        own = self.first(vectors)[:, :, 0]
        partner = self.second(vectors)[:, :, 0]
        if partner.shape[1] < 2:
            return torch.zeros_like(own)
        padding = ~places(lengths, partner.shape[1])
        top, where = partner.masked_fill(padding, torch.finfo(partner.dtype).min).topk(2, dim=1)
        holds_it = torch.arange(partner.shape[1], device=where.device)[None, :] == where[:, :1]
        best = torch.where(holds_it, top[:, 1:], top[:, :1])
        return torch.where(lengths[:, None] > 1, own + best, torch.zeros_like(own))


class MultiIntraAttention(nn.Module):
    """Several dimensions per pair: s_ij = p . relu(Q [x_i; x_j] + b) + c."""

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(dimension, hidden)
        self.second = nn.Linear(dimension, hidden, bias=False)
        self.project = nn.Linear(hidden, 1)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """rows x width x dimension -> rows x dimension"""
        return weighted_sum(vectors, softmax_over_words(self.scores(vectors, lengths), lengths))

    def scores(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Each word's largest affinity with another word; 0 for a single word."""
        width = vectors.shape[1]
        pairs = torch.relu(self.first(vectors)[:, :, None, :] + self.second(vectors)[:, None, :, :])
        affinity = self.project(pairs)[:, :, :, 0]
        # A word has no affinity with itself, and none with padding.
        itself = torch.eye(width, dtype=torch.bool, device=vectors.device)[None]
        hidden = itself | ~places(lengths, width)[:, None, :]
        best = affinity.masked_fill(hidden, torch.finfo(affinity.dtype).min).amax(dim=2)
        return torch.where(lengths[:, None] > 1, best, torch.zeros_like(best))
