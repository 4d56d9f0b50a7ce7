"""Checkpoints of a training, so that it resumes after kill -9 and ends with the same weights.

Tensors are safetensors, the rest is JSON: nothing in a checkpoint can run. Two generations take turns, and
each JSON file, written last, names its tensors by hash: a checkpoint is whole or it is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deadpan.detect.neural.optimiser import Optimiser
from deadpan.errors import ConfigError, need
from deadpan.storage import atomic, digest, read_json, write_json

GENERATIONS = ("even", "odd")


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
        tensors = {f"network.{name}": value for name, value in _trained(network).items()}
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


def _trained(network: nn.Module) -> dict[str, Tensor]:
    """Return the weights that change; frozen ones are loaded with the encoder."""
    frozen = {name for name, value in network.named_parameters() if not value.requires_grad}
    return {name: value for name, value in network.state_dict().items() if name not in frozen}


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
