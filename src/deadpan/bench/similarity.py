"""The embedded vectors, loaded once."""

from __future__ import annotations

from functools import cache

from deadpan.vectors import Vectors


@cache
def embedded() -> Vectors:
    """Static vectors of 256 numbers; `deadpan models pull wordllama-256` brings them."""
    return Vectors.embedded()
