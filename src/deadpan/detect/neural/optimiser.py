"""AdamW, a sparse Adam for word embeddings, clipping and a schedule over both; checkpoints of their state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deadpan.errors import ConfigError, need
from deadpan.storage import atomic, digest, read_json, write_json

GENERATIONS = ("even", "odd")  # written in turns: a kill while one is written leaves the other


class Optimiser:
    """Steps over all parameters of a network.

    Sparse embeddings get an Adam that updates only the rows with a gradient. Biases and norm scales have no
    weight decay. The rate rises over `warmup` of the steps and, if `linear`, falls to 0 afterwards.
    """

    def __init__(self, network: nn.Module, rate: float, decay: float, clip: float, warmup: float, linear: bool) -> None:
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


class Checkpoint:
    """A folder that holds the state of one training; `identity` says which training it is."""

    def __init__(self, folder: Path | str, identity: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.identity = dict(identity)
        self._saves = 0

    def save(self, network: nn.Module, optimiser: Optimiser, best: Mapping[str, Tensor], facts: Any) -> None:
        """Write weights, optimiser, best weights so far, the state of the random numbers, and `facts`."""
        library = need("safetensors.torch", "neural")
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"network.{name}": value for name, value in trained_weights(network).items()}
        tensors |= {f"best.{name}": value for name, value in best.items()}
        tensors |= {f"optimiser.{name}": value for name, value in optimiser.tensors().items()}
        tensors["random"] = torch.random.get_rng_state()
        plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        generation = GENERATIONS[self._saves % 2]
        path = self.folder / f"{generation}.safetensors"
        with atomic(path) as temporary:
            library.save_file(plain, temporary)
        self._saves += 1
        state = {"identity": self.identity, "saves": self._saves, "sha256": digest(path), "facts": facts}
        write_json(self.folder / f"{generation}.json", state)

    def restore(self, network: nn.Module, optimiser: Optimiser) -> tuple[dict[str, Tensor], Any] | None:
        """Load the newest whole checkpoint into both; return the best weights and `facts`, or None."""
        library = need("safetensors.torch", "neural")
        found = self._newest()
        if found is None:
            return None
        path, state = found
        if state["identity"] != self.identity:
            raise ConfigError(
                f"{self.folder}: a checkpoint of another training (other examples or settings); "
                "choose another folder, or delete this one"
            )
        tensors: dict[str, Tensor] = library.load_file(path)
        network.load_state_dict(_under(tensors, "network."), strict=False)
        optimiser.restore(_under(tensors, "optimiser."))
        torch.random.set_rng_state(tensors["random"])
        self._saves = int(state["saves"])
        return _under(tensors, "best."), state["facts"]

    def _newest(self) -> tuple[Path, dict[str, Any]] | None:
        whole = []
        for generation in GENERATIONS:
            path, about = self.folder / f"{generation}.safetensors", self.folder / f"{generation}.json"
            if path.is_file() and about.is_file():
                state = read_json(about)
                if state["sha256"] == digest(path):
                    whole.append((int(state["saves"]), path, state))
        return max(whole, key=lambda one: one[0])[1:] if whole else None


def trained_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return the weights that change; frozen ones are loaded with the encoder."""
    frozen = {name for name, value in network.named_parameters() if not value.requires_grad}
    return {name: value for name, value in network.state_dict().items() if name not in frozen}


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
