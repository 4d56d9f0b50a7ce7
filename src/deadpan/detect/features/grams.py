"""Texts as words and n-grams, many at a time, alike in training and in prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from deadpan.detect.features.keys import Keys, Places, pair_keys, run_keys, text_keys

LONGEST_WORD = 64
"""Characters: longer ones (a page without spaces, binary data) are cut into pieces of that length."""

_LINK = re.compile(r"(?:https?://|www\.)\S+")
_USER = re.compile(r"(?<!\w)@\w+")
_TOKEN = re.compile(r"[^\W_]+|(?:[^\w\s]|_)+")
_START, _END = np.uint64(0x5EED), np.uint64(0xE0F)
_ROW = np.uint64(0xD6E8FEB86659FD93)


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
    return _TOKEN.findall(text.lower())


def cut(texts: Sequence[str]) -> Cut:
    """Split at white space; case is kept, since shouting is informative."""
    split = [plain(text).split() for text in texts]
    flat = list(chain.from_iterable(split))
    index = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    if any(len(word) > LONGEST_WORD for word in index):
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
            third = np.flatnonzero(~new & ~np.append(True, new[:-1]))
            grams.append((rows[third], pair_keys(pairs[third - 1], ~keys[third])))
    return once(np.concatenate([r for r, _ in grams]), np.concatenate([k for _, k in grams]))


def once(rows: Places, keys: Keys) -> tuple[Places, Keys]:
    """Return every n-gram of a text once."""
    pairs = keys ^ (rows.astype(np.uint64) * _ROW)
    first = np.sort(np.unique(pairs, return_index=True)[1])
    return rows[first], keys[first]


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
