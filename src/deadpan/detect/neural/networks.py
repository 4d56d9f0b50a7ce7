"""The seven networks, each made of a few layers. All take the same batch and return two logits per row.

Rows are padded on the right; padding never changes a result.
"""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from deadpan.detect.neural.texts import PAD


@dataclass(frozen=True, slots=True)
class Shape:
    """The initial word vectors of a network, and the sizes of its layers."""

    start: Tensor
    hidden: int
    dropout: float
    features: int = 0
    tune: bool = True
    sparse: bool = False


class Network(nn.Module):
    """Base class: words to vectors; subclasses add the layers above."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embedding = Embedding(shape.start, shape.tune, shape.sparse, shape.dropout)

    def forward(self, numbers: Tensor, lengths: Tensor, features: Tensor | None = None) -> Tensor:
        """Return two logits per row."""
        return self.answer(self.embedding(numbers), lengths, features)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        """Apply the layers above the word vectors."""
        raise TypeError(f"{type(self).__name__} has no layers")


class LstmNetwork(Network):
    """The state at the last word."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.lstm = Lstm(self.embedding.dimension, shape.hidden)
        self.head = Head(shape.hidden, shape.dropout)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        return _logits(self.head(self.lstm(vectors, lengths)[1]))


class AttentionLstmNetwork(Network):
    """All states, weighted by attention."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.lstm = Lstm(self.embedding.dimension, shape.hidden)
        self.attention = Attention(shape.hidden, shape.hidden)
        self.head = Head(shape.hidden, shape.dropout)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        return _logits(self.head(self.attention(self.lstm(vectors, lengths)[0], lengths)))


class ConvolutionNetwork(Network):
    """Filters of one or several sizes over the words."""

    def __init__(self, shape: Shape, sizes: tuple[int, ...]) -> None:
        super().__init__(shape)
        self.convolutions = nn.ModuleList(Convolution(self.embedding.dimension, shape.hidden, size) for size in sizes)
        self.head = Head(shape.hidden * len(sizes), shape.dropout, shape.hidden)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        seen = [convolution(vectors, lengths) for convolution in self.convolutions]
        return _logits(self.head(torch.cat(seen, dim=1)))


class IntraAttentionNetwork(Network):
    """Intra-attention over pairs of words, beside an LSTM."""

    def __init__(self, shape: Shape, several: bool) -> None:
        super().__init__(shape)
        dimension = self.embedding.dimension
        self.pairs: nn.Module = (
            MultiIntraAttention(dimension, shape.hidden) if several else SingleIntraAttention(dimension)
        )
        self.lstm = Lstm(dimension, shape.hidden)
        self.head = Head(dimension + shape.hidden, shape.dropout, shape.hidden)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        joined = torch.cat([self.pairs(vectors, lengths), self.lstm(vectors, lengths)[1]], dim=1)
        return _logits(self.head(joined))


class DenseLstmNetwork(Network):
    """Four LSTM layers, the average word vector, and sentiment signals."""

    depth = 4

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        dimension = self.embedding.dimension
        self.lstm = DenseLstm(dimension, shape.hidden, self.depth, shape.dropout)
        self.head = Head(shape.hidden + dimension + shape.features, shape.dropout, shape.hidden)

    def answer(self, vectors: Tensor, lengths: Tensor, features: Tensor | None) -> Tensor:
        parts = [self.lstm(vectors, lengths), self.embedding.mean(vectors, lengths)]
        return _logits(self.head(torch.cat(parts if features is None else [*parts, features], dim=1)))


def _logits(answer: Any) -> Tensor:
    """Type the result of calling a module, which torch leaves untyped."""
    logits: Tensor = answer
    return logits


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


class Head(nn.Module):
    """Dropout and one linear map; with `hidden`, a ReLU layer of that size before it."""

    def __init__(self, dimension: int, dropout: float, hidden: int = 0) -> None:
        super().__init__()
        first = [nn.Linear(dimension, hidden), nn.ReLU()] if hidden else []
        self.layers = nn.Sequential(*first, nn.Dropout(dropout), nn.Linear(hidden or dimension, 2))

    def forward(self, text: Tensor) -> Tensor:
        """rows x dimension -> rows x 2"""
        answer: Tensor = self.layers(text)
        return answer


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
