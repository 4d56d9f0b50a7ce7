"""Hashes of tokens and of character n-grams, computed for whole lists of words at once.

A key is a hash of 64 bits over code points, the same on every machine. Two different n-grams of a corpus
share one with odds of about one in a million, and then merely share a weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Places = NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_SPACE = 32


def text_keys(texts: Sequence[str]) -> Keys:
    """Return one key per text, of all its characters."""
    codes, starts, lengths = _codes(list(texts))
    keys = lengths.astype(np.uint64)
    for at in range(int(lengths.max(initial=0))):
        longer = lengths > at
        keys[longer] = keys[longer] * _STEP + codes[starts[longer] + at]
    return mixed(keys)


def pair_keys(first: Keys, second: Keys) -> Keys:
    """Return the key of one key followed by another."""
    return mixed(first * _STEP + (second ^ np.uint64(0xD1B54A32D192ED03)))


def run_keys(words: Sequence[str], shortest: int, longest: int) -> tuple[Places, Keys]:
    """Return every character n-gram of the words, padded with spaces, as (word, key).

    These are the n-grams scikit-learn calls char_wb.
    """
    codes, starts, lengths = _codes([f" {word} " for word in words])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    ends = (starts + lengths)[owner]
    rolling = np.zeros(len(codes), dtype=np.uint64)
    owners, keys = [], []
    for size in range(1, longest + 1):
        usable = len(codes) - size + 1
        if usable <= 0:
            break
        rolling[:usable] = rolling[:usable] * _STEP + codes[size - 1 : size - 1 + usable]
        if size >= shortest:
            whole = np.flatnonzero(np.arange(usable) + size <= ends[:usable])
            owners.append(owner[whole])
            keys.append(mixed(rolling[whole] + np.uint64(size)))
    if not owners:
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    return np.concatenate(owners), np.concatenate(keys)


def mixed(keys: Keys) -> Keys:
    """Return keys spread over all 64 bits (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_keys: Keys = keys ^ (keys >> np.uint64(31))
    return mixed_keys


def _codes(texts: Sequence[str]) -> tuple[NDArray[np.uint32], Places, Places]:
    """Return the characters of all texts in one array, and the start and length of each text."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4"), np.cumsum(lengths) - lengths, lengths
