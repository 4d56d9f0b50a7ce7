"""A text's vector to two logits, whose softmax is (sincere, sarcastic)."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

from torch import Tensor, nn


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
