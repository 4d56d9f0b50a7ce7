"""Random draws that depend on (seed, id) alone, whatever the order or partition of the work."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TypeVar

_T = TypeVar("_T")


def draw(seed: int, key: str) -> bytes:
    """Return 16 pseudo-random bytes for a key: equal on every machine, independent between keys and seeds."""
    return blake2b(f"{seed}\x1f{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def sample(records: Iterable[_T], count: int, *, seed: int, key: Callable[[_T], str]) -> list[_T]:
    """Return a random sample of `count` records of a stream: those with the smallest draws, in that order."""
    return heapq.nsmallest(count, records, key=lambda record: draw(seed, key(record)))
