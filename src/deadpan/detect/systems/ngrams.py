"""Texts as words and n-grams, their keys (hashes of 64 bits), and learned weights by key.

A key is a hash over code points, the same on every machine. Two different n-grams of a corpus share one
with odds of about one in a million, and then merely share a weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST_WORD = 64
"""Characters: longer ones (a page without spaces, binary data) are cut into pieces of that length."""
_LINK = re.compile(r"(?:https?://|www\.)\S+")
_USER = re.compile(r"(?<!\w)@\w+")
_TOKEN = re.compile(r"[^\W_]+|(?:[^\w\s]|_)+")
# The ends of a text, as keys that no hash of a token is likely to be.
_START, _END = np.uint64(0x5EED), np.uint64(0xE0F)
_ROW = np.uint64(0xD6E8FEB86659FD93)
Keys = NDArray[np.uint64]
Places = NDArray[np.int64]
# 2^64 divided by the golden ratio: spreads neighbouring code points over all bits.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SPACE = 32
Array = NDArray[np.float64]
Halves = NDArray[np.float32] | NDArray[np.float16]
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Cut:
    """Texts as numbers of their distinct words: text after text in `flat`, `lengths` words each."""

    words: list[str]
    flat: Places
    lengths: Places

    @property
    def rows(self) -> Places:
        """For each word of `flat`, its text."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def distinct(self) -> Cut:
        """Return the texts with every word once: a text that repeats itself says nothing new."""
        pairs = np.unique(self.rows * (len(self.words) + 1) + self.flat)
        rows, flat = pairs // (len(self.words) + 1), pairs % (len(self.words) + 1)
        return Cut(self.words, flat, np.bincount(rows, minlength=len(self.lengths)).astype(np.int64))


def plain(text: str) -> str:
    """Return the text with all links and users replaced: the page or person must not decide."""
    if "http" in text or "www." in text:
        text = _LINK.sub("http", text)
    return _USER.sub("@user", text) if "@" in text else text


def tokenise(text: str) -> list[str]:
    """Return runs of letters and digits, and runs of anything else: SARC's tokens without its imports."""
    lower = text.lower()
    # Most words are letters and digits only, for which a pattern would take five times as long.
    return [lower] if lower.isalnum() else _TOKEN.findall(lower)


def cut(texts: Sequence[str]) -> Cut:
    """Split at white space; case is kept, since shouting is informative."""
    split = [plain(text).split() for text in texts]
    flat = list(chain.from_iterable(split))
    index = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    if max(map(len, index), default=0) > LONGEST_WORD:
        for row, words in enumerate(split):
            if any(len(word) > LONGEST_WORD for word in words):
                split[row] = " ".join(map(_pieces, words)).split()
        flat = list(chain.from_iterable(split))
        index = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    return Cut(
        list(index),
        np.fromiter(map(index.__getitem__, flat), np.int64, len(flat)),
        np.fromiter(map(len, split), np.int64, len(split)),
    )


def _pieces(word: str) -> str:
    if len(word) <= LONGEST_WORD:
        return word
    return " ".join(word[at : at + LONGEST_WORD] for at in range(0, len(word), LONGEST_WORD))


def token_grams(texts: Cut, longest: int) -> tuple[Places, Keys]:
    """Return the token n-grams up to `longest`, ends of texts included, as (row, key)."""
    tokens = [tokenise(word) for word in texts.words]
    counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
    known = text_keys(list(chain.from_iterable(tokens)))
    starts, repeats = (np.cumsum(counts) - counts)[texts.flat], counts[texts.flat]
    places = np.repeat(starts - np.cumsum(repeats) + repeats, repeats) + np.arange(int(repeats.sum()))
    keys, rows = known[places], np.repeat(texts.rows, repeats)
    grams = [(rows, keys)]
    if longest > 1 and len(keys):
        new = np.append(True, rows[1:] != rows[:-1])
        closes = np.append(new[1:], True)
        pairs = pair_keys(np.where(new, _START, np.append(_START, keys[:-1])), keys)
        grams += [(rows, pairs), (rows[closes], pair_keys(keys[closes], np.full(closes.sum(), _END)))]
        if longest > 2:
            # The last key is inverted: a trigram must not have the key of a pair whose first part is a pair.
            third = np.flatnonzero(~new & ~np.append(True, new[:-1]))
            grams.append((rows[third], pair_keys(pairs[third - 1], ~keys[third])))
    return once(np.concatenate([r for r, _ in grams]), np.concatenate([k for _, k in grams]))


def once(rows: Places, keys: Keys) -> tuple[Places, Keys]:
    """Return every n-gram of a text once."""
    pairs = keys ^ (rows.astype(np.uint64) * _ROW)
    order = np.argsort(pairs)  # np.unique would sort stably, which takes four times as long
    ranked = pairs[order]
    new = np.ones(len(keys), dtype=bool)
    new[order[1:][ranked[1:] == ranked[:-1]]] = False
    return rows[new], keys[new]


def word_runs(texts: Cut, shortest: int, longest: int) -> tuple[Places, Keys]:
    """Return the character n-grams of each distinct word, in lower case, as (word, key)."""
    return run_keys([word.lower() for word in texts.words], shortest, longest)


def gram_names(text: str, longest: int) -> list[tuple[str, Keys]]:
    """Return the token n-grams of one text with their names; the ends of the text are ^ and $."""
    tokens = tokenise(plain(text))
    keys = text_keys(tokens)
    named = [(token, keys[at : at + 1]) for at, token in enumerate(tokens)]
    ends = [("^", np.array([_START])), *named, ("$", np.array([_END]))] if longest > 1 and tokens else []
    for (left, one), (right, other) in pairwise(ends):
        named.append((f"{left} {right}", pair_keys(one, other)))
    for at in range(1, len(tokens) - 1) if longest > 2 else ():
        pair = pair_keys(keys[at - 1 : at], keys[at : at + 1])
        named.append((" ".join(tokens[at - 1 : at + 2]), pair_keys(pair, ~keys[at + 1 : at + 2])))
    return named


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
    # The product and the constant make "a b" another key than "b a".
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
            # Windows that reach into the next word are left out.
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


@dataclass(frozen=True, slots=True, eq=False)
class GramWeights:
    """Sorted keys, their values (for the length of a row) and pushes towards sarcasm (value x weight).

    Pushes of several models are columns: all are looked up at once.
    """

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
        value = self.value[places].astype(np.float64)
        squares = np.bincount(rows, weights=value * value, minlength=n)
        return _summed(rows, self.push[places], n), squares.astype(np.float64)

    def score(self, rows: Places, keys: Keys, n: int) -> Array:
        """Return the margin that these n-grams give to each of n rows."""
        return self._scaled(*self.sums(rows, keys, n))

    def score_by_word(self, texts: Cut, owners: Places, keys: Keys) -> Array:
        """Return the margins where n-grams belong to words and words to texts."""
        push, squares = self.sums(owners, keys, len(texts.words))
        rows, n = texts.rows, len(texts.lengths)
        return self._scaled(_summed(rows, push[texts.flat], n), _summed(rows, squares[texts.flat], n))

    def _scaled(self, push: Array, squares: Array) -> Array:
        scale = np.where(squares > TINY, self.share / np.sqrt(np.maximum(squares, TINY)), 0.0)
        return push * (scale if push.ndim == 1 else scale[:, None])

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of an npz file."""
        return {f"{name}_keys": self.keys, f"{name}_value": self.value, f"{name}_push": self.push}

    def pruned(self, keep: int) -> GramWeights:
        """Return the `keep` n-grams with the largest pushes."""
        if len(self.keys) <= keep:
            return self
        size = np.abs(self.push) if self.push.ndim == 1 else np.abs(self.push).max(axis=1)
        hardest = np.sort(np.argsort(-size, kind="stable")[:keep])
        return GramWeights(self.keys[hardest], self.value[hardest], self.push[hardest], self.share)


def _summed(rows: Places, values: NDArray[Any], n: int) -> Array:
    """Return per row the sum of its values, in each column."""
    if values.ndim == 1:
        return np.bincount(rows, weights=values, minlength=n).astype(np.float64)
    return np.stack([np.bincount(rows, weights=column, minlength=n) for column in values.T], axis=1)
