"""Similarity of an item's options to a text, by the embedded word vectors."""

from __future__ import annotations

from functools import cache

from deadpan.records import Item
from deadpan.stats.interval import FloatArray
from deadpan.vectors import Vectors, cosine


def option_similarity(item: Item, text: str) -> FloatArray:
    """Return the cosine of `text` with each option, in the item's own order."""
    vectors = _vectors()
    near: FloatArray = cosine(vectors.sentences([text]), vectors.sentences(list(item.options)))[0]
    return near


@cache
def _vectors() -> Vectors:
    """Load the vectors once per process; `deadpan models pull wordllama-256` downloads them."""
    return Vectors.embedded()
