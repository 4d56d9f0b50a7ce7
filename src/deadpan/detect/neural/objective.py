"""What training makes small: the cross-entropy of rows and, of pairs, that the right one scores higher."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional


def class_weights(labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Weights that make both labels count the same in sum, one on average."""
    sarcastic = float(labels.mean())
    return 0.5 / (1 - sarcastic), 0.5 / sarcastic


def row_loss(logits: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
    """Mean cross-entropy; the mean is over rows, not weights, so a batch of one label keeps its size."""
    loss = functional.cross_entropy(logits, labels, reduction="none")
    return (loss if weights is None else loss * weights[labels]).mean()


def pair_loss(logits: Tensor, labels: Tensor, sequences: Sequence[int]) -> Tensor:
    """Mean of log(1 + exp(m_not - m_sarcastic)) over the pairs of a sequence that differ in label.

    m is the margin, the logit of sarcastic less that of not: what a balanced benchmark compares.
    """
    codes = torch.tensor(sequences, device=logits.device)
    margins = logits[:, 1] - logits[:, 0]
    same = (codes[:, None] == codes[None, :]) & (codes[:, None] >= 0)
    pairs = same & (labels[:, None] == 1) & (labels[None, :] == 0)
    if not pairs.any():
        return margins.sum() * 0
    return functional.softplus(margins[None, :] - margins[:, None])[pairs].mean()
