"""Copies of texts: identical once normalised, or near-identical by the words or characters that they share.

One rule for every guard (leaks, clean, transfer, compare, evaluate, train --also). Case, punctuation, links,
mentions, hashtags, accents, letters that look alike and invisible characters do not count. Two texts are near
copies if one of these holds:

- one word: they differ in one word, whatever the order, and share LONG_WORDS - 1 words or BRIEF_SIZE bytes,
- words: the Jaccard similarity of their words is at least NEAR, and one has LONG_WORDS words or more,
- characters: that of their runs of characters is (spaces do not count), for brief texts at least BRIEF_NEAR.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_examples
from deadpan.errors import ConfigError, need
from deadpan.records import Example
from deadpan.text import fold

NEAR = 0.8
"""Jaccard similarity of near duplicates: above it readers see an edit, below it a shared phrase."""

SHORT_WORDS = 4
"""Texts of fewer words ("yeah right") coincide by chance, so they are compared by identity only."""

LONG_WORDS = 9
"""From this many words on, one changed word leaves a similarity of NEAR: 8 of 10 words."""

BRIEF_NEAR = 0.9
"""Similarity of characters below LONG_WORDS: a stock phrase plus a word would match ("wow, never seen this")."""

BRIEF_SIZE = 16
"""Bytes that brief texts with one different word must share: "what a great day" and "night" share 10."""

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts that put no space between words
_HASHTAG = re.compile(r"(?<!\w)[#\uff03]\w+")
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
# "don't", "dont" and the tokenised "don ' t" are one word.
_CLITIC = re.compile(r"(?<=\w) ?['\u2019\u00b4`] ?(?=(?:s|t|d|m|re|ve|ll)\b)", re.IGNORECASE)
# Cyrillic, Greek, Armenian and phonetic letters that look like a Latin one in either case.
_LOOKALIKES = str.maketrans(
    "\u0430\u0432\u0435\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0501\u04bb\u04cf\u04af\u051b\u051d"
    "\u0251\u0261\u0131\u0269\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3\u0578\u0585\u057d\u0570",
    "abeijkmhopctyxsdhlyqwagiiabeznikmvoptuxynouh",
)


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
    """Return the normalised text that identifies a text; where nothing is left (":)"), the text itself.

    Hashtags count only where fewer than two words are left without them ("yay #school").
    """
    if "&" in text:
        text = html.unescape(text)
    text = _CLITIC.sub("", text)
    bare = _HASHTAG.sub(" ", text) if "#" in text or "\uff03" in text else text
    key = _normal(bare)
    if bare != text and word_count(key) < 2:
        key = _normal(text)
    return key or " ".join(text.split())


def _normal(text: str) -> str:
    if text.isascii():
        return fold(text)
    # Only accents are taken apart: jamo are put together again.
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)))
    return fold(unicodedata.normalize("NFC", bare).lower().translate(_LOOKALIKES))


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


def near_duplicates(keys: Sequence[str], threshold: float = NEAR) -> tuple[IntArray, IntArray]:
    """Return the pairs of near-identical keys as two arrays of positions, left < right, each pair once.

    The keys are distinct identities. Those shorter than SHORT_WORDS have no near duplicate.
    """
    check_threshold(threshold)
    words = np.fromiter(map(word_count, keys), np.int64, len(keys))
    long = np.flatnonzero(words >= SHORT_WORDS)
    chosen, words = [keys[at] for at in long.tolist()], words[long]
    brief: NDArray[np.float64] = np.where(words < LONG_WORDS, max(threshold, BRIEF_NEAR), threshold)
    codes = [_codes(left, right, len(long)) for left, right in _one_word_apart(chosen)]
    for pairs in near_pairs(chosen, float(brief.min(initial=1.0))):
        alike = pairs.similarity >= np.maximum(brief[pairs.left], brief[pairs.right]) - _SLACK
        codes.append(_codes(pairs.left[alike], pairs.right[alike], len(long)))
    bags = _hashed_words(chosen)
    for pairs in _search(*bags, threshold):
        enough = np.maximum(bags[2][pairs.left], bags[2][pairs.right]) >= LONG_WORDS
        codes.append(_codes(pairs.left[enough], pairs.right[enough], len(long)))
    once = np.unique(np.concatenate(codes)) if codes else np.empty(0, np.int64)
    return long[once // max(len(long), 1)], long[once % max(len(long), 1)]


def _codes(left: IntArray, right: IntArray, n: int) -> IntArray:
    return np.unique(np.minimum(left, right) * n + np.maximum(left, right))


def copy_clusters(texts: Iterable[str], threshold: float = NEAR) -> IntArray:
    """Return a number per text; copies and near copies, and copies of those, have the same number."""
    sparse, graphs = need("scipy.sparse", "train"), need("scipy.sparse.csgraph", "train")
    keys, key_of = distinct(texts)
    left, right = near_duplicates(keys, threshold)
    graph = sparse.coo_matrix((np.ones(len(left), np.bool_), (left, right)), shape=(len(keys), len(keys)))
    numbers: IntArray = graphs.connected_components(graph, directed=False)[1].astype(np.int64)
    return numbers[key_of]


def copy_signatures(texts: Iterable[str]) -> tuple[Keys, IntArray]:
    """Return numbers that copies share, and the position of the text that each belongs to.

    Two texts share one if they are identical or differ in one word or in the order of words (the first rule
    of near copies). The numbers are the same on every machine, so a model can keep them instead of its
    training texts: about one per word.
    """
    keys = list(map(identity, texts))
    whole = np.array([_stable(key) for key in keys], np.uint64)
    counts = np.fromiter(map(word_count, keys), np.int64, len(keys))
    long = np.flatnonzero(counts >= SHORT_WORDS)
    numbers, owner = _signatures([keys[at] for at in long])
    return np.concatenate([whole, numbers]), np.concatenate([np.arange(len(keys)), long[owner]])


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
    left, right = near_duplicates(keys, threshold)
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


# ---------------------------------------------------------------- one word changed

_PASS = 16_000_000
"""Signatures sorted at a time; more are searched in several passes, so that memory stays bounded."""


def _one_word_apart(keys: Sequence[str]) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of keys whose words differ in one, or in their order only."""
    signatures, owners = _signatures(keys)
    passes = np.uint64(max(len(signatures) // _PASS, 1))
    for number in range(int(passes)):
        chosen = np.flatnonzero(signatures % passes == np.uint64(number)) if passes > 1 else np.arange(len(owners))
        order = chosen[np.argsort(signatures[chosen], kind="stable")]
        signature, owner = signatures[order], owners[order]
        new = np.append(True, signature[1:] != signature[:-1])[: len(order)]
        ends = np.append(np.flatnonzero(new)[1:], len(order))[np.cumsum(new) - 1] if len(order) else owner
        partners = np.minimum(ends - np.arange(len(order)) - 1, CROWD)
        for low, high in _pieces(partners):
            count = partners[low:high]
            one = np.repeat(np.arange(low, high), count)
            other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(count) - count, count)
            left, right = owner[one], owner[other]
            yield left[left != right], right[left != right]


def _signatures(keys: Sequence[str]) -> tuple[Keys, IntArray]:
    """Return a hash of each key's words in any order, and of all but one of them, with the key's position.

    What is left without a word must be long enough to be no coincidence.
    """
    words, _, lengths = _numbered(keys)
    owner = np.repeat(np.arange(len(keys)), lengths)
    sizes = np.fromiter((len(word.encode("utf-8", "surrogatepass")) for word in words.names), np.int64)
    hashes = np.fromiter(map(_stable, words.names), np.uint64)
    bag, size = np.zeros(len(keys), np.uint64), np.zeros(len(keys), np.int64)
    np.add.at(bag, owner, hashes[words.ids])
    np.add.at(size, owner, sizes[words.ids])
    telling = (lengths[owner] >= LONG_WORDS) | (size[owner] - sizes[words.ids] >= BRIEF_SIZE)
    owner, ids = owner[telling], words.ids[telling]
    every = np.arange(len(keys))
    return np.concatenate([bag, bag[owner] - hashes[ids]]), np.concatenate([every, owner])


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of some keys as numbers, one key after the other, and the words themselves."""

    ids: IntArray
    names: list[str]


def _numbered(keys: Sequence[str]) -> tuple[_Words, IntArray, IntArray]:
    """Return the words of the keys, and where each key starts and how many words it has."""
    number: dict[str, int] = {}
    lengths = np.fromiter((key.count(" ") + 1 for key in keys), np.int64, len(keys))
    ids = np.fromiter((number.setdefault(word, len(number)) for key in keys for word in key.split(" ")), np.int64)
    return _Words(ids, list(number)), np.cumsum(lengths) - lengths, lengths


def _stable(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _hashed_words(keys: Sequence[str]) -> tuple[Keys, IntArray, IntArray]:
    """Return a number per word (smaller for rare ones), and the start and length of each key.

    The second "very" of a key is another word than the first, so that a set holds what a bag would.
    """
    words, starts, lengths = _numbered(keys)
    codes = np.repeat(np.arange(len(keys)), lengths) * max(len(words.names), 1) + words.ids
    order = np.argsort(codes, kind="stable")
    new = np.append(True, codes[order][1:] != codes[order][:-1])[: len(order)]
    place = np.arange(len(order))
    again = np.empty(len(order), np.uint64)
    again[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    hashes = words.ids.astype(np.uint64) * np.uint64(2**20) + again
    _mix(hashes)
    return _rare_first(hashes, words.ids), starts, lengths


# ---------------------------------------------------------------- shared characters or words

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
    yield from _search(*_hashed(keys), threshold)


def _search(hashes: Keys, starts: IntArray, lengths: IntArray, threshold: float) -> Iterator[Pairs]:
    for low, high in _windows(lengths, threshold):
        chosen = np.flatnonzero((lengths >= low) & (lengths <= high / threshold))
        index = _Index(hashes, starts[chosen], lengths[chosen], threshold)
        for small, large, shingle in index.candidates():
            pairs = index.verify(small, large, shingle)
            # A pair of two windows is reported by the one with the shorter text.
            left, right = chosen[pairs.left], chosen[pairs.right]
            own = np.minimum(lengths[left], lengths[right]) <= high
            if own.any():
                yield Pairs(left[own], right[own], pairs.similarity[own])


def _windows(lengths: IntArray, threshold: float) -> Iterator[tuple[int, int]]:
    """Yield ranges of lengths that are searched one after the other, so that memory stays bounded.

    Similar sets are of similar size: a window is searched with the texts up to 1 / threshold times as long.
    """
    elements = np.bincount(lengths, minlength=1) * np.arange(int(lengths.max(initial=0)) + 1)
    total = np.append(0, np.cumsum(elements))
    low = 1
    while low < len(elements):
        # Never narrower than what is searched beside it, or every text would be in many windows.
        high = int(low / threshold)
        while high + 1 < len(elements) and _span(total, low, high + 1, threshold) <= _PASS:
            high += 1
        yield low, high
        low = high + 1


def _span(total: IntArray, low: int, high: int, threshold: float) -> int:
    return int(total[min(int(high / threshold) + 1, len(total) - 1)] - total[low])


def check_threshold(threshold: float) -> None:
    """Raise an error for a similarity threshold outside (0, 1]."""
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise ConfigError(f"threshold={threshold!r}: a similarity threshold is above 0 and at most 1")


class _Index:
    """Texts as sorted arrays of shingles, rare ones first; texts ordered by size."""

    def __init__(self, hashes: Keys, starts: IntArray, lengths: IntArray, threshold: float) -> None:
        self.threshold = threshold
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
    return _rare_first(hashes, buckets), starts, lengths


def _rare_first(hashes: Keys, buckets: NDArray[np.integer[Any]]) -> Keys:
    """Return the hashes with the frequency of their bucket as the high bits, in place."""
    shifted = np.minimum(np.bincount(buckets, minlength=1), 2**16 - 2).astype(np.uint64) << np.uint64(48)
    hashes &= np.uint64(2**48 - 1)
    for low in range(0, len(hashes), BLOCK):
        hashes[low : low + BLOCK] |= shifted[buckets[low : low + BLOCK]]
    return hashes


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
