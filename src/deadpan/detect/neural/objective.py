"""Losses: cross-entropy of rows, and a ranking loss of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional


def class_weights(labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Return weights that give both labels the same total weight, 1 on average."""
    sarcastic = float(labels.mean())
    return 0.5 / (1 - sarcastic), 0.5 / sarcastic


def row_loss(logits: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean cross-entropy, over rows, not weights, so that a batch of one label keeps its scale."""
    loss = functional.cross_entropy(logits, labels, reduction="none")
    return (loss if weights is None else loss * weights[labels]).mean()


def pair_loss(logits: Tensor, labels: Tensor, sequences: Sequence[int]) -> Tensor:
    """Return the mean of log(1 + exp(m_sincere - m_sarcastic)) over the pairs of a sequence.

    m is the margin, the logit of sarcastic minus that of sincere: what a balanced benchmark compares.
    """
    codes = torch.tensor(sequences, device=logits.device)
    margins = logits[:, 1] - logits[:, 0]
    same = (codes[:, None] == codes[None, :]) & (codes[:, None] >= 0)
    pairs = same & (labels[:, None] == 1) & (labels[None, :] == 0)
    if not pairs.any():
        return margins.sum() * 0
    return functional.softplus(margins[None, :] - margins[:, None])[pairs].mean()
