"""Where a network runs, and randomness that is an argument."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from deadpan.errors import ConfigError, need

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda", "mps"]


def find_device(name: Device) -> torch.device:
    """The device of that name; "auto" takes the fastest there is."""
    library = need("torch", "neural")
    has = {"cuda": library.cuda.is_available(), "mps": library.backends.mps.is_available(), "cpu": True}
    chosen = next(device for device in has if has[device]) if name == "auto" else name
    if not has[chosen]:
        raise ConfigError(f"device {name!r}: this machine or this torch has none; use auto or cpu")
    device: torch.device = library.device(chosen)
    return device


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """torch's random numbers start at `seed` inside and go on outside as if nothing had happened."""
    library = need("torch", "neural")
    with library.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        library.manual_seed(seed)
        yield
