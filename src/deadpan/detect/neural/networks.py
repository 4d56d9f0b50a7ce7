"""The seven networks, each made of a few layers. All take the same batch and return two logits per row."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from deadpan.detect.neural.layers.attention import Attention
from deadpan.detect.neural.layers.convolution import Convolution
from deadpan.detect.neural.layers.dense_lstm import DenseLstm
from deadpan.detect.neural.layers.embedding import Embedding
from deadpan.detect.neural.layers.head import Head
from deadpan.detect.neural.layers.intra_attention import MultiIntraAttention, SingleIntraAttention
from deadpan.detect.neural.layers.lstm import Lstm


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
        self.convolutions = nn.ModuleList(
            Convolution(self.embedding.dimension, shape.hidden, size) for size in sizes
        )
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
