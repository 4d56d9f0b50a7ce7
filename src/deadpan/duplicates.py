"""Duplicate texts: identical once folded, or near-identical by the shingles they share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_examples
from deadpan.near_pairs import NEAR, IntArray, near_pairs
from deadpan.records import Example
from deadpan.text import fold

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
    target: Sequence[Example],
    against: Sequence[Example],
    *,
    threshold: float = NEAR,
    whole_sequences: bool = True,
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
