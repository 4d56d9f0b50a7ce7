"""Conversations as rows of word ids: tokens, vocabulary and initial word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import Context
from deadpan.errors import DataError
from deadpan.records import Example
from deadpan.text import printable, social_tokens
from deadpan.vectors import Array, Vectors

if TYPE_CHECKING:
    from torch import Tensor

TURN = "<turn>"
RESPONSE = "<response>"
OWN = "<own>"
OTHER = "<other>"
NOTHING = "<nothing>"
LINK = "<link>"
USER = "<user>"
MARKS = (TURN, RESPONSE, OWN, OTHER, NOTHING)
LONGEST_WORD = 25  # characters: longer words are cut, since no embedding has them
CHARACTERS_PER_TOKEN = 40  # read per token that may be kept
PAD = 0
UNKNOWN = 1
FIRST = ("<pad>", "<unknown>", *MARKS)
EMBEDDED = "embedded"
SPREAD = 0.3
"""Root mean square of the initial values: networks of this size learn well from it, and vector files differ
in it by a factor of ten."""


def words(text: str, limit: int) -> list[str]:
    """Return at most `limit` lower-case words of a text; all links are one token, all users another.

    Text beyond the limit is not read, so that a text of a megabyte costs no more.
    """
    seen = printable(text[: limit * CHARACTERS_PER_TOKEN]).lower()
    return [_plain(token) for token in social_tokens(seen)[:limit]]


def tokens(example: Example, context: Context, limit: int) -> list[str]:
    """Return the last words of the context, a separator, and the response: at most about `limit` words.

    The response has priority; the oldest words are cut first.
    """
    response = words(example.response.text, limit) or [NOTHING]
    before = context.before(example)
    if not before:
        return response
    earlier: list[str] = []
    for turn, own in zip(before, context.own(example), strict=True):
        earlier += [OWN if own else OTHER] if context.speakers else [TURN]
        earlier += words(turn.text, limit)
    room = limit - len(response)
    return [*(earlier[-room:] if room > 0 else []), RESPONSE, *response]


def _plain(token: str) -> str:
    if token[0] == "@" and len(token) > 1:
        return USER
    if token[0] in "hw" and token.startswith(("http://", "https://", "www.")):
        return LINK
    return token[:LONGEST_WORD]


class Vocabulary:
    """The words a network has vectors for."""

    def __init__(self, words: Sequence[str]) -> None:
        if tuple(words[: len(FIRST)]) != FIRST:
            raise DataError("a vocabulary of another version of deadpan: train the model again")
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]], min_count: int, most: int) -> Vocabulary:
        """Return the words that occur `min_count` times, at most the `most` most frequent ones."""
        counts = Counter(word for text in texts for word in text)
        kept = [word for word, count in counts.items() if count >= min_count and word not in FIRST]
        kept.sort(key=lambda word: (-counts[word], word))
        return cls([*FIRST, *kept[:most]])

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, text: Sequence[str]) -> list[int]:
        """Return the words of a text as ids."""
        return [self._numbers.get(word, UNKNOWN) for word in text]


class NumberedTexts:
    """The word ids of all texts in one array, with the length of each text."""

    def __init__(self, rows: Sequence[Sequence[int]], features: NDArray[np.float32] | None = None) -> None:
        self.lengths: NDArray[np.int64] = np.array([len(row) for row in rows], dtype=np.int64)
        self.features = features
        self._numbers = np.fromiter(
            (number for row in rows for number in row), dtype=np.int64, count=int(self.lengths.sum())
        )

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return ids padded on the right, lengths, and features if there are any."""
        import torch

        lengths = self.lengths[rows]
        width = int(lengths.max())
        places = np.arange(width)[None, :]
        inside = places < lengths[:, None]
        at = np.where(inside, self._starts[rows][:, None] + places, 0)
        numbers = np.where(inside, self._numbers[at], PAD)
        inputs = {"numbers": torch.from_numpy(numbers), "lengths": torch.from_numpy(lengths)}
        if self.features is not None:
            inputs["features"] = torch.from_numpy(self.features[rows])
        return inputs


def starting_vectors(vocabulary: Vocabulary, vectors: str, dimension: int, seed: int) -> Array:
    """Return one row per word. `vectors` is empty (random, of size `dimension`), "embedded", or a path.

    Vectors of a file are used whole. Of the embedded ones the first `dimension` values are used: they were
    trained so that any prefix is useful (Matryoshka vectors), and small networks train faster.
    """
    if not vectors:
        return _random(len(vocabulary), dimension, seed)
    source = Vectors.embedded() if vectors == EMBEDDED else Vectors.read(Path(vectors), vocabulary.words)
    known = source.words(vocabulary.words)
    if vectors == EMBEDDED:
        known = np.ascontiguousarray(known[:, :dimension])
    known[: len(FIRST)] = 0  # our special tokens are not words
    has_vector = known.any(axis=1)
    if not has_vector.any():
        raise DataError(f"{vectors}: has none of the training words; is it of the same language?")
    known *= SPREAD / np.sqrt(np.mean(known[has_vector] ** 2))
    known[~has_vector] = _random(len(vocabulary), known.shape[1], seed)[~has_vector]
    known[PAD] = 0
    return known


def _random(rows: int, dimension: int, seed: int) -> Array:
    generator: Any = np.random.default_rng(seed)
    drawn: Array = generator.normal(0, SPREAD, (rows, dimension)).astype(np.float32)
    drawn[PAD] = 0
    return drawn
