"""Words and their ids: 0 is padding, 1 is every word not seen in training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from deadpan.detect.neural.tokens import MARKS
from deadpan.errors import DataError

PAD = 0
UNKNOWN = 1
FIRST = ("<pad>", "<unknown>", *MARKS)


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
