"""Duplicate texts: identical once folded, or near-identical by the shingles they share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_examples
from deadpan.errors import ConfigError
from deadpan.records import Example
from deadpan.text import fold

NEAR = 0.8
"""Jaccard similarity of near duplicates: above it readers see an edit, below it a shared phrase."""


SHORT_WORDS = 4
"""Texts of fewer words ("yeah right") coincide by chance, so they are compared by identity only."""

BRIEF_WORDS, BRIEF_NEAR = 8, 0.9
"""Below this many words a stock phrase plus one word would match ("wow, never seen this"): require more."""

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts that put no space between words


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """Examples that remain, and how many were excluded: identical, near-identical, or of such a sequence."""

    examples: list[Example]
    identical: int
    near: int
    same_sequence: int = 0

    @property
    def excluded(self) -> int:
        return self.identical + self.near + self.same_sequence


def identity(text: str) -> str:
    """Return the folded text that identifies a text; where folding leaves nothing (":)"), the text itself."""
    return fold(text) or " ".join(text.split())


def copy_key(example: Example) -> str:
    """Return what copies of an example share: its folded text and context; empty if it has no text."""
    if not example.response.text.strip():
        return ""
    return "\n".join(identity(turn.text) for turn in (*example.context, example.response))


def word_count(key: str) -> int:
    """Count the words of a folded text; in scripts without spaces, two characters count as one word."""
    return key.count(" ") + 1 + (0 if key.isascii() else len(_UNSPACED.findall(key)) // 2)


def distinct(texts: Iterable[str]) -> tuple[list[str], IntArray]:
    """Return the distinct identities in order of appearance, and the number of each text's identity."""
    number: dict[str, int] = {}
    of_text = [number.setdefault(identity(text), len(number)) for text in texts]
    return list(number), np.array(of_text, dtype=np.int64)


def near_duplicates(keys: list[str], threshold: float = NEAR) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of near-identical keys as two arrays of positions; brief keys must be more alike.

    Keys shorter than SHORT_WORDS are never near duplicates.
    """
    words = np.fromiter(map(word_count, keys), np.int64, len(keys))
    long = np.flatnonzero(words >= SHORT_WORDS)
    needed: NDArray[np.float64] = np.where(words < BRIEF_WORDS, max(threshold, BRIEF_NEAR), threshold)
    for pairs in near_pairs([keys[at] for at in long], float(needed.min(initial=1.0))):
        left, right = long[pairs.left], long[pairs.right]
        enough = pairs.similarity >= np.maximum(needed[left], needed[right]) - 1e-9
        yield left[enough], right[enough]


def without_duplicates(
    target: Sequence[Example], against: Sequence[Example], *, threshold: float = NEAR, whole_sequences: bool = True
) -> Deduplicated:
    """Return the examples of `target` whose text is neither identical nor near-identical to one of `against`.

    With `whole_sequences`, an excluded response takes the other responses of its sequence with it, so that no
    pair is left with one half: pair accuracy stays defined.
    """
    target, against = check_examples(target), check_examples(against)
    if not target or not against:
        return Deduplicated(target, 0, 0)
    keys, key_of = distinct(example.response.text for example in [*target, *against])
    ours, theirs = key_of[: len(target)], key_of[len(target) :]
    same = np.zeros(len(keys), np.bool_)
    same[theirs] = True
    near = np.zeros(len(keys), np.bool_)
    for left, right in near_duplicates(keys, threshold):
        near[left[same[right]]] = True
        near[right[same[left]]] = True
    identical, close = same[ours], near[ours] & ~same[ours]
    excluded = identical | close
    torn = {e.sequence for e, out in zip(target, excluded, strict=True) if out and e.sequence}
    kept, followed = [], 0
    for example, out in zip(target, excluded, strict=True):
        if out:
            continue
        if whole_sequences and example.sequence in torn:
            followed += 1
        else:
            kept.append(example)
    return Deduplicated(kept, int(identical.sum()), int(close.sum()), followed)


_RUN = 4
"""Characters per shingle: long enough to be rare in English, short enough for Korean and Arabic words."""

BLOCK = 1_000_000
"""Array elements per block; this, not the number of texts, bounds the memory of the search."""

CROWD = 32
"""Most duplicates a text is compared with per shingle: of 10,000 posts of one bot, a sample suffices."""

REACH = 1_000
"""Most texts compared per rare shingle; the largest number in 118,000 posts is 97."""

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]

_NOTHING = np.uint64(2**64 - 1)
_SLACK = 1e-9  # so that 4/5 counts as 0.8 despite rounding


def shingles(key: str) -> set[str]:
    """Return the character n-grams of a text without its spaces, so that "can't" and "can ' t" agree."""
    dense = key.replace(" ", "")
    return {dense[at : at + _RUN] for at in range(len(dense) - _RUN + 1)}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of near-identical texts, as positions in the list searched: `left` < `right`."""

    left: IntArray
    right: IntArray
    similarity: FloatArray

    def __len__(self) -> int:
        return len(self.left)


def all_near_pairs(keys: Sequence[str], threshold: float = NEAR) -> Pairs:
    """Return every pair of near-identical texts, sorted."""
    blocks = list(near_pairs(keys, threshold))
    if not blocks:
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    left, right = (np.concatenate([getattr(pairs, side) for pairs in blocks]) for side in ("left", "right"))
    similarity = np.concatenate([pairs.similarity for pairs in blocks])
    order = np.lexsort((right, left))
    return Pairs(left[order], right[order], similarity[order])


def near_pairs(keys: Sequence[str], threshold: float = NEAR) -> Iterator[Pairs]:
    """Yield every pair of texts with a Jaccard similarity of shingles >= threshold, each once, in blocks.

    Exact, not sampled: two sets this similar must share one of their few rarest shingles (prefix filtering,
    Bayardo et al. 2007; Xiao et al. 2008), so only texts that do are compared. Of more than CROWD duplicates
    of one text an even sample is taken, since pairs grow with the square. The keys should be distinct.
    """
    check_threshold(threshold)
    index = _Index(keys, threshold)
    for small, large, shingle in index.candidates():
        pairs = index.verify(small, large, shingle)
        if len(pairs):
            yield pairs


def check_threshold(threshold: float) -> None:
    """Raise an error for a similarity threshold outside (0, 1]."""
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise ConfigError(f"threshold={threshold!r}: a similarity threshold is above 0 and at most 1")


class _Index:
    """Texts as sorted arrays of shingles, rare ones first; texts ordered by size."""

    def __init__(self, keys: Sequence[str], threshold: float) -> None:
        self.threshold = threshold
        hashes, starts, lengths = _hashed(keys)
        self.text = np.argsort(lengths, kind="stable")
        self.text = self.text[lengths[self.text] > 0]
        rows = list(_sorted_rows(hashes, starts[self.text], lengths[self.text]))
        del hashes
        self.size = np.concatenate([size for _, size, _ in rows]) if rows else np.empty(0, np.int64)
        self.parity = np.concatenate([parity for _, _, parity in rows]) if rows else np.empty((0, 4), np.uint64)
        self.shingle = np.concatenate([flat for flat, _, _ in rows]) if rows else np.empty(0, np.uint64)
        del rows
        # Order by the size of the set, not of the text, which may repeat shingles. Ties are in an order
        # independent of the source, so that a sample of many duplicates is fair.
        order = np.lexsort((self.parity[:, 0], self.size))
        self.start = (np.cumsum(self.size) - self.size)[order]
        self.text, self.size, self.parity = self.text[order], self.size[order], self.parity[order]

    def _entries(self) -> tuple[IntArray, IntArray, Keys]:
        """Return the rarest shingles of each text (two similar texts share one): text, position, shingle."""
        prefix = self.size - _at_least(self.threshold * self.size) + 1
        owner = np.repeat(np.arange(len(self.size)), prefix)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(prefix) - prefix, prefix)
        shingle = self.shingle[self.start[owner] + position]
        order = np.argsort(shingle, kind="stable")  # by size within a shingle
        shingle = shingle[order]
        same = shingle[1:] == shingle[:-1]
        shared = np.append(same, False) | np.insert(same, 0, False) if len(shingle) else same
        kept = order[shared]
        return owner[kept], position[kept], shingle[shared]

    def candidates(self) -> Iterator[tuple[IntArray, IntArray, Keys]]:
        """Yield pairs that share a rare shingle and may be similar by size and position, and that shingle."""
        owner, position, shingle = self._entries()
        if not len(owner):
            return
        group = np.cumsum(np.append(0, shingle[1:] != shingle[:-1]))
        sizes = self.size[owner]
        span = int(sizes.max()) + 1
        reach = np.minimum(np.floor(sizes / self.threshold + _SLACK).astype(np.int64), span - 1)
        last = np.searchsorted(group * span + sizes, group * span + reach, side="right")
        partners = last - np.arange(len(owner)) - 1
        # The smaller of two similar texts has the shared shingle even earlier.
        early = sizes - _at_least(2 * self.threshold / (1 + self.threshold) * sizes) + 1
        partners[position >= early] = 0
        np.minimum(partners, REACH, out=partners)
        for low, high in _pieces(partners):
            count = partners[low:high]
            a = np.repeat(np.arange(low, high), count)
            b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(count) - count, count)
            rest = np.minimum(sizes[a] - position[a], sizes[b] - position[b])
            alive = rest >= self._needed(sizes[a] + sizes[b])
            a, b = a[alive], b[alive]
            alive = self._apart(owner[a], owner[b]) <= self._allowed(owner[a], owner[b])
            a, b = a[alive], b[alive]
            few = np.arange(len(a)) - np.searchsorted(a, a) < CROWD
            a, b = a[few], b[few]
            # Long texts share many rare shingles; keep the first.
            _, once = np.unique(owner[a] * len(self.size) + owner[b], return_index=True)
            yield owner[a[once]], owner[b[once]], shingle[a[once]]

    def _needed(self, total: IntArray) -> IntArray:
        """Return the number of shingles that two sets of this joint size must share."""
        return _at_least(self.threshold / (1 + self.threshold) * total)

    def _allowed(self, small: IntArray, large: IntArray) -> IntArray:
        """Return the number of shingles that may be in one set only."""
        total = self.size[small] + self.size[large]
        return total - 2 * self._needed(total)

    def _apart(self, small: IntArray, large: IntArray) -> IntArray:
        """Return a lower bound on the shingles in one set only; each flips one of 256 bits."""
        differing = np.zeros(len(small), dtype=np.int64)
        for word in range(self.parity.shape[1]):
            differing += _ones(self.parity[small, word] ^ self.parity[large, word])
        return differing

    def verify(self, small: IntArray, large: IntArray, shingle: Keys) -> Pairs:
        """Return the candidates that are similar; each is reported once, at its first shared shingle."""
        order = np.argsort(self.size[large], kind="stable")
        small, large, shingle = small[order], large[order], shingle[order]
        common = np.zeros(len(small), dtype=np.int64)
        for low, high in _blocks(self.size[large]):
            merged = np.concatenate([self._rows(small[low:high]), self._rows(large[low:high])], axis=1)
            merged.sort(axis=1)
            twice = (merged[:, 1:] == merged[:, :-1]) & (merged[:, 1:] != _NOTHING)
            first = merged[np.arange(high - low), np.argmax(twice, axis=1)]
            common[low:high] = np.where(first == shingle[low:high], twice.sum(axis=1), 0)
        similarity = common / (self.size[small] + self.size[large] - common)
        alike = similarity >= self.threshold - _SLACK
        one, other = self.text[small[alike]], self.text[large[alike]]
        return Pairs(np.minimum(one, other), np.maximum(one, other), similarity[alike])

    def _rows(self, texts: IntArray) -> Keys:
        return _padded(self.shingle, self.start[texts], self.size[texts])


def _hashed(keys: Sequence[str]) -> tuple[Keys, IntArray, IntArray]:
    """Return a number per shingle (smaller for rare ones), and the start and length of each text.

    The high 16 bits are its frequency (by bucket: any fixed order will do), the low 48 a hash; the
    probability that two of ten million shingles collide is below 0.2.
    """
    dense = [key.replace(" ", "") for key in keys]
    characters = np.fromiter(map(len, dense), np.int64, len(dense))
    codes = np.frombuffer("".join(dense).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts = np.cumsum(characters) - characters
    lengths = np.maximum(characters - _RUN + 1, 0)
    if not lengths.any():
        return np.empty(0, np.uint64), starts, lengths
    runs = len(codes) - _RUN + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for at in range(_RUN):
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes += codes[at : at + runs]
    _mix(hashes)
    buckets = (hashes >> np.uint64(42)).astype(np.int32)
    often = np.minimum(np.bincount(buckets), 2**16 - 2).astype(np.uint64)
    hashes &= np.uint64(2**48 - 1)
    hashes |= often[buckets] << np.uint64(48)
    return hashes, starts, lengths


def _sorted_rows(hashes: Keys, starts: IntArray, lengths: IntArray) -> Iterator[tuple[Keys, IntArray, Keys]]:
    """Yield blocks of texts: distinct shingles in order, flat; their number per text; parity bits."""
    for low, high in _blocks(lengths):
        rows = _padded(hashes, starts[low:high], lengths[low:high])
        rows.sort(axis=1)
        rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = _NOTHING
        rows.sort(axis=1)
        real = rows != _NOTHING
        bit = np.uint64(1) << (rows & np.uint64(63))
        word = (rows >> np.uint64(6)) & np.uint64(3)
        parity = [
            np.bitwise_xor.reduce(np.where(real & (word == w), bit, np.uint64(0)), axis=1)
            for w in np.arange(4, dtype=np.uint64)
        ]
        yield rows[real], real.sum(axis=1), np.stack(parity, axis=1)


def _padded(flat: Keys, starts: IntArray, sizes: IntArray) -> Keys:
    """Return slices of a flat array as rows of a matrix, padded with a number that is no shingle."""
    columns = np.arange(int(sizes.max(initial=0)))
    places = starts[:, None] + columns
    np.minimum(places, len(flat) - 1, out=places)
    rows: Keys = flat[places]
    rows[columns >= sizes[:, None]] = _NOTHING
    return rows


def _pieces(weights: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges whose weights add up to a block, each at least one long."""
    total = np.cumsum(weights)
    low = 0
    while low < len(total):
        done = int(total[low - 1]) if low else 0
        high = max(int(np.searchsorted(total, done + BLOCK, side="right")), low + 1)
        yield low, high
        low = high


def _blocks(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of rising sizes that fill a block when padded to their largest."""
    low = 0
    while low < len(sizes):
        ahead = sizes[low : low + BLOCK]
        padded = ahead * np.arange(1, len(ahead) + 1)
        high = low + max(int(np.searchsorted(padded, BLOCK, side="right")), 1)
        yield low, high
        low = high


def _at_least(count: NDArray[np.floating[Any]]) -> IntArray:
    whole: IntArray = np.ceil(count - _SLACK).astype(np.int64)
    return whole


def _mix(numbers: Keys) -> None:
    """Mix numbers over all 64 bits, in place (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)


def _ones(numbers: Keys) -> IntArray:
    """Return the number of set bits; NumPy has a function for it only since 2.0."""
    numbers = numbers - ((numbers >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pair = np.uint64(0x3333333333333333)
    numbers = (numbers & pair) + ((numbers >> np.uint64(2)) & pair)
    numbers = (numbers + (numbers >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    total: Keys = (numbers * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return total.astype(np.int64)
