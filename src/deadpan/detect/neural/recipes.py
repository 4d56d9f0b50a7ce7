"""Additions to a loss that help small training sets: R-Drop, and attacks on the word embeddings (FGM)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


def disagreement(first: Tensor, second: Tensor) -> Tensor:
    """Return the mean symmetric divergence of two passes with different dropout (Liang et al. 2021)."""
    left, right = functional.log_softmax(first, -1), functional.log_softmax(second, -1)
    forth = functional.kl_div(left, right, reduction="batchmean", log_target=True)
    back = functional.kl_div(right, left, reduction="batchmean", log_target=True)
    return (forth + back) / 2


def attacked(network: nn.Module, size: float, loss: Callable[[], Tensor]) -> Tensor:
    """Return the loss after the input embeddings were moved by `size` against it (Miyato et al. 2017).

    The attack is on the output of the embedding layer, so it works where the table itself is frozen.
    """
    table = next(module for module in network.modules() if isinstance(module, nn.Embedding))
    kept: list[Tensor] = []

    def keep(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        shown = output.detach().requires_grad_()
        kept.append(shown)
        return shown

    with table.register_forward_hook(keep):
        (slope,) = torch.autograd.grad(loss(), kept[:1])
    length = torch.linalg.vector_norm(slope)
    move = size * slope / length if length > 0 else torch.zeros_like(slope)
    with table.register_forward_hook(lambda module, inputs, output: output + move):
        return loss()


class Average:
    """The mean of the weights after several epochs (stochastic weight averaging, Izmailov et al. 2018)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: dict[str, Tensor] = {}

    def add(self, state: dict[str, Tensor]) -> None:
        """Add the weights of one more epoch."""
        self.count += 1
        for name, value in state.items():
            if not value.is_floating_point():
                self.mean[name] = value.detach().clone()
            elif name in self.mean:
                self.mean[name] += (value.detach() - self.mean[name]) / self.count
            else:
                self.mean[name] = value.detach().clone()
