"""Random draws that depend on (seed, id) alone: the order and the pieces of the work don't matter."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


def draw(seed: int, key: str) -> bytes:
    """A number for a key, as bytes: the same on every machine, unrelated between keys and seeds."""
    return blake2b(f"{seed}\x1f{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def sample(records: Iterable[T], count: int, *, seed: int, key: Callable[[T], str]) -> list[T]:
    """`count` records of a stream of any length, those with the smallest draws."""
    return heapq.nsmallest(count, records, key=lambda record: draw(seed, key(record)))
