"""AdamW, a sparse Adam for word embeddings, and gradient clipping and a schedule over both."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Optimiser:
    """Steps over all parameters of a network.

    Sparse embeddings get an Adam that updates only the rows with a gradient. Biases and norm scales have no
    weight decay. The rate rises over `warmup` of the steps and, if `linear`, falls to 0 afterwards.
    """

    def __init__(
        self, network: nn.Module, rate: float, decay: float, clip: float, warmup: float, linear: bool
    ) -> None:
        tables = {id(m.weight) for m in network.modules() if isinstance(m, nn.Embedding) and m.sparse}
        learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
        sparse = [parameter for parameter in learned if id(parameter) in tables]
        dense = [parameter for parameter in learned if id(parameter) not in tables]
        groups = [
            {"params": [p for p in dense if p.ndim > 1], "weight_decay": decay},
            {"params": [p for p in dense if p.ndim <= 1], "weight_decay": 0.0},
        ]
        fused = all(p.device.type in ("cpu", "cuda") for p in dense) and bool(dense)
        self.rate, self.clip, self.warmup, self.linear = rate, clip, warmup, linear
        self.learned = learned
        self._fresh = True
        self.parts: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=rate, fused=fused)]
        if sparse:
            self.parts.append(torch.optim.SparseAdam(sparse, lr=rate))

    def step(self, loss: Tensor, done: float, last: bool = True) -> None:
        """Add the gradients of a loss and, with the `last` of several, take a step.

        `done` is the share of the training that is finished.
        """
        if self._fresh:
            for part in self.parts:
                part.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self._fresh = last
        if not last:
            return
        self._clip()
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = self.rate * self._factor(done)
            part.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return what the optimisers remember, by name."""
        return {
            f"{place}.{number}.{name}": value if isinstance(value, Tensor) else torch.tensor(value)
            for place, part in enumerate(self.parts)
            for number, state in part.state_dict()["state"].items()
            for name, value in state.items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take over what `tensors` returned."""
        for place, part in enumerate(self.parts):
            whole = part.state_dict()
            for key, value in tensors.items():
                owner, number, name = key.split(".", 2)
                if int(owner) == place:
                    known = whole["state"].setdefault(int(number), {})
                    sparse = isinstance(part, torch.optim.SparseAdam) and name == "step"
                    known[name] = int(value) if sparse else value
            part.load_state_dict(whole)

    def _factor(self, done: float) -> float:
        if done < self.warmup:
            return max(done / self.warmup, 1e-3)
        return max((1 - done) / max(1 - self.warmup, 1e-9), 0.0) if self.linear else 1.0

    def _clip(self) -> None:
        """Scale all gradients so that their norm is at most `clip`."""
        if self.clip <= 0:
            return
        for parameter in self.learned:
            if parameter.grad is not None and parameter.grad.is_sparse:
                parameter.grad = parameter.grad.coalesce()
        gradients = [p.grad for p in self.learned if p.grad is not None]
        values = [grad.values() if grad.is_sparse else grad for grad in gradients]
        if not values:
            return
        length = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(v) for v in values]))
        factor = torch.clamp(self.clip / (length + 1e-6), max=1.0)
        for value in values:
            value.mul_(factor)
