"""Diversity of a run's dialogues: distinct word sequences, similarity to each other, topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from deadpan.draws import sample
from deadpan.duplicates import identity
from deadpan.generate.draft import Draft
from deadpan.near_pairs import shingles
from deadpan.text import fold

MEASURED = 2_000
COMPARED = 300
"""Dialogues compared with each other: 45,000 pairs give the mean similarity to two digits."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """`distinct`: the share of distinct word sequences in responses; `similarity`: the mean Jaccard of pairs.

    Both are measured on a sample of fixed size, because they depend on it: runs of any size can be compared.
    """

    n: int
    distinct: dict[int, float]
    similarity: float
    closest: float
    topics: Counter[str]
    themes: Counter[str]
    openings: Counter[str]
    response_words: Counter[int]


def diversity(drafts: Callable[[], Iterable[Draft]], seed: int) -> Diversity:
    """Measure topics and lengths on all drafts, the rest on a sample. `drafts` may be called repeatedly."""
    topics, themes = Counter[str](), Counter[str]()
    lengths: Counter[int] = Counter()
    for draft in drafts():
        topics[draft.topic or "not said"] += 1
        themes[draft.theme] += 1
        lengths[len(_words(draft))] += 1
    chosen = sample(drafts(), MEASURED, seed=seed, key=lambda draft: draft.id)
    grams: dict[int, Counter[tuple[str, ...]]] = {size: Counter() for size in (1, 2, 3)}
    openings: Counter[str] = Counter()
    for draft in chosen:
        words = _words(draft)
        openings[" ".join(words[:2])] += 1
        for size, counted in grams.items():
            counted.update(zip(*(words[at:] for at in range(size)), strict=False))
    similarity, closest = _similarity([draft.text for draft in chosen[:COMPARED]])
    distinct = {size: len(counted) / max(1, counted.total()) for size, counted in grams.items()}
    return Diversity(topics.total(), distinct, similarity, closest, topics, themes, openings, lengths)


def _words(draft: Draft) -> list[str]:
    return fold(draft.response.text).split() if draft.response else []


def _similarity(texts: Sequence[str]) -> tuple[float, float]:
    """Return the mean and the largest Jaccard similarity over all pairs."""
    sets = [shingles(identity(text)) for text in texts]
    scores = [len(a & b) / len(a | b) for a, b in combinations(sets, 2) if a or b]
    return (sum(scores) / len(scores), max(scores)) if scores else (0.0, 0.0)
