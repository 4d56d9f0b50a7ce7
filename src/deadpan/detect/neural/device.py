"""The device a network runs on, and its random seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from deadpan.errors import ConfigError, need

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda", "mps"]


def find_device(name: Device) -> torch.device:
    """Return the device of that name; "auto" is the fastest available."""
    library = need("torch", "neural")
    has = {"cuda": library.cuda.is_available(), "mps": library.backends.mps.is_available(), "cpu": True}
    chosen = next(device for device in has if has[device]) if name == "auto" else name
    if not has[chosen]:
        raise ConfigError(f"device {name!r}: not available here; use auto or cpu")
    device: torch.device = library.device(chosen)
    return device


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch inside the block, and restore its random state afterwards."""
    library = need("torch", "neural")
    with library.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        library.manual_seed(seed)
        yield
