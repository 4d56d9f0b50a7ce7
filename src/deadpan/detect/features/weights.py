"""Learned weights of n-grams, looked up by key in large batches, without scipy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.grams import Cut
from deadpan.detect.features.keys import Keys, Places

Array = NDArray[np.float64]
Halves = NDArray[np.float32] | NDArray[np.float16]
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class GramWeights:
    """Sorted keys, their values (for the length of a row) and pushes towards sarcasm (value x weight)."""

    keys: Keys
    value: Halves
    push: Halves
    share: float
    _starts: Places = field(init=False, repr=False)
    _shift: np.uint64 = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the keys by their leading bits: they are hashes, so each bucket holds one or two."""
        bits = max(1, len(self.keys).bit_length())
        shift = np.uint64(64 - bits)
        edges = np.arange(1 << bits, dtype=np.uint64) << shift
        starts = np.append(np.searchsorted(self.keys, edges), len(self.keys))
        object.__setattr__(self, "_starts", starts)
        object.__setattr__(self, "_shift", shift)

    def lookup(self, keys: Keys) -> tuple[Places, Places]:
        """Return the positions of the known keys, and their places in this table."""
        bucket = (keys >> self._shift).astype(np.int64)
        place, end = self._starts[bucket], self._starts[bucket + 1]
        known, places = [], []
        left = np.flatnonzero(place < end)
        while len(left):
            here = place[left]
            same = self.keys[here] == keys[left]
            known.append(left[same])
            places.append(here[same])
            left = left[~same]
            place[left] += 1
            left = left[place[left] < end[left]]
        if not known:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(known), np.concatenate(places)

    def sums(self, rows: Places, keys: Keys, n: int) -> tuple[Array, Array]:
        """Return per row the sum of its n-grams' pushes, and of their squared values."""
        known, places = self.lookup(keys)
        rows = rows[known]
        push = np.bincount(rows, weights=self.push[places], minlength=n)
        value = self.value[places].astype(np.float64)
        squares = np.bincount(rows, weights=value * value, minlength=n)
        return push.astype(np.float64), squares.astype(np.float64)

    def score(self, rows: Places, keys: Keys, n: int) -> Array:
        """Return the margin that these n-grams give to each of n rows."""
        return self._scaled(*self.sums(rows, keys, n))

    def score_by_word(self, texts: Cut, owners: Places, keys: Keys) -> Array:
        """Return the margins where n-grams belong to words and words to texts."""
        push, squares = self.sums(owners, keys, len(texts.words))
        rows, n = texts.rows, len(texts.lengths)
        return self._scaled(
            np.bincount(rows, weights=push[texts.flat], minlength=n).astype(np.float64),
            np.bincount(rows, weights=squares[texts.flat], minlength=n).astype(np.float64),
        )

    def _scaled(self, push: Array, squares: Array) -> Array:
        return np.where(squares > TINY, self.share * push / np.sqrt(np.maximum(squares, TINY)), 0.0)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of an npz file."""
        return {f"{name}_keys": self.keys, f"{name}_value": self.value, f"{name}_push": self.push}

    def pruned(self, keep: int) -> GramWeights:
        """Return the `keep` n-grams with the largest pushes."""
        if len(self.keys) <= keep:
            return self
        hardest = np.sort(np.argsort(-np.abs(self.push), kind="stable")[:keep])
        return GramWeights(self.keys[hardest], self.value[hardest], self.push[hardest], self.share)

    def halved(self) -> GramWeights:
        """Return the weights in half precision, enough for a file."""
        value, push = self.value.astype(np.float16), self.push.astype(np.float16)
        return GramWeights(self.keys, value, push, self.share)
