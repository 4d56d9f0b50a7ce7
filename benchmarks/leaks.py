"""Near-duplicate search over 100,000 short texts, against nearest neighbours by scikit-learn.

    python benchmarks/leaks.py [number of texts]

Texts are made of invented words with the frequencies of English; one in twenty is an edited copy of another
(a word typed wrong, dropped, changed or added). Peers compare every pair, so they are timed on two smaller
sets and scaled by the growth seen between those, which is printed. Seconds are of processor time, since the
machine may be shared.
"""

from __future__ import annotations

import math
import random
import resource
import sys
import time
from collections.abc import Callable
from itertools import accumulate

from deadpan.duplicates import NEAR, IntArray, all_near_pairs, distinct, shingles

SMALL, LARGE = 10_000, 30_000
SECONDS, MEGABYTES = 30, 1_000


def make(n: int, seed: int = 0) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts, and which are edited copies of which."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlucmfwygpbvk", k=draw.randint(2, 9))) for _ in range(30_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    texts = [" ".join(draw.choices(words, cum_weights=weights, k=draw.randint(6, 25))) for _ in range(n - n // 20)]
    planted = []
    for _ in range(n // 20):
        source = draw.randrange(n - n // 20)
        planted.append((source, len(texts)))
        texts.append(edited(texts[source], draw))
    return texts, planted


def edited(text: str, draw: random.Random) -> str:
    """What a hand or a crawler does to a text on the way."""
    words = text.split()
    at = draw.randrange(len(words))
    change = draw.choice(["typo", "drop", "swap", "add"])
    if change == "typo":
        words[at] += draw.choice("aeiou")
    elif change == "drop":
        del words[at]
    elif change == "swap":
        words[at] = "lol"
    else:
        words.insert(at, "rt")
    return " ".join(words)


def jaccard(left: str, right: str) -> float:
    one, other = shingles(left), shingles(right)
    return len(one & other) / len(one | other)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peer(texts: list[str]) -> None:
    """What one would write without thinking: tf-idf of the same shingles, neighbours within a radius."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import NearestNeighbors

    vectors = TfidfVectorizer(analyzer="char", ngram_range=(4, 4)).fit_transform(texts)
    NearestNeighbors(radius=0.2, metric="cosine", algorithm="brute").fit(vectors).radius_neighbors(vectors)


def main(n: int) -> None:
    texts, planted = make(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    start = time.process_time()
    keys, of_text = distinct(texts)
    pairs = all_near_pairs(keys)
    ours = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(f"{n:,} texts: {ours:.1f} s (limit {SECONDS}), ", end="")
    print(f"peak {peak:.0f} MB (limit {MEGABYTES}, {before:.0f} before)")

    found = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    hits = [of_text[left] == of_text[right] or _key(of_text, left, right) in found for left, right in planted]
    likeness = [jaccard(texts[left], texts[right]) for left, right in planted]
    alike = [hit for hit, similarity in zip(hits, likeness, strict=True) if similarity >= NEAR]
    print(f"planted: {len(planted):,}; found {sum(hits) / len(hits):.1%} of all, ", end="")
    print(f"{sum(alike) / len(alike):.1%} of the {len(alike):,} at {NEAR} or more; {len(found):,} pairs in all")

    peer(texts[:100])  # the imports are not what is measured
    small, large = seconds(lambda: peer(texts[:SMALL])), seconds(lambda: peer(texts[:LARGE]))
    power = math.log(large / small) / math.log(LARGE / SMALL)
    scaled = large * (n / LARGE) ** power
    print(f"scikit-learn: {small:.1f} s for {SMALL:,}, {large:.1f} s for {LARGE:,}; ", end="")
    print(f"grows as n to the {power:.2f}: about {scaled:,.0f} s for {n:,}")
    print(f"ratio: {scaled / ours:,.0f} times faster")


def _key(of_text: IntArray, left: int, right: int) -> tuple[int, int]:
    one, other = int(of_text[left]), int(of_text[right])
    return min(one, other), max(one, other)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
