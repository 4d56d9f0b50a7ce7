"""Near-duplicate search over 100,000 short texts, against nearest neighbours by scikit-learn.

    python benchmarks/leaks.py [number of texts] [--alone]

Texts are made of invented words with the frequencies of English; one in twenty is an edited copy of another
(a word typed wrong, dropped, changed or added, all words reversed, a hashtag, a letter of another alphabet);
`--alone` leaves out the peers. Peers compare every pair, so they are timed on two smaller
sets and scaled by the growth seen between those, which is printed. Seconds are of processor time, since the
machine may be shared.
"""

from __future__ import annotations

import math
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate

from deadpan.duplicates import LONG_WORDS, IntArray, distinct, near_duplicates

SMALL, LARGE = 10_000, 30_000
EDITS = ("typo", "drop", "swap", "add", "reverse", "hashtag", "letter")


def make(n: int, seed: int = 0) -> tuple[list[str], list[tuple[int, int, str]]]:
    """Texts, and which are edited copies of which, by which edit."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlucmfwygpbvk", k=draw.randint(2, 9))) for _ in range(30_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    texts = [" ".join(draw.choices(words, cum_weights=weights, k=draw.randint(4, 25))) for _ in range(n - n // 20)]
    planted = []
    for number in range(n // 20):
        source, edit = draw.randrange(n - n // 20), EDITS[number % len(EDITS)]
        planted.append((source, len(texts), edit))
        texts.append(edited(texts[source], edit, draw))
    return texts, planted


def edited(text: str, edit: str, draw: random.Random) -> str:
    """What a hand or a crawler does to a text on the way."""
    words = text.split()
    at = draw.randrange(len(words))
    if edit == "typo":
        words[at] += draw.choice("aeiou")
    elif edit == "drop":
        del words[at]
    elif edit == "swap":
        words[at] = "lol"
    elif edit == "add":
        words.insert(at, "rt")
    elif edit == "reverse":
        words.reverse()
    elif edit == "hashtag":
        words.append("#blessed")
    else:
        words[at] = words[at].translate(str.maketrans("aeopc", "\u0430\u0435\u043e\u0440\u0441"))
    return " ".join(words)


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


def main(n: int, alone: bool) -> None:
    texts, planted = make(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    start = time.process_time()
    keys, of_text = distinct(texts)
    left, right = near_duplicates(keys)
    ours = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(f"{n:,} texts: {ours:.1f} s, peak {peak:,.0f} MB ({before:,.0f} before), {len(left):,} pairs")
    found = set(zip(left.tolist(), right.tolist(), strict=True))
    hits: dict[tuple[bool, str], list[bool]] = {}
    for one, other, edit in planted:
        hit = of_text[one] == of_text[other] or _key(of_text, one, other) in found
        hits.setdefault((len(texts[one].split()) >= LONG_WORDS, edit), []).append(hit)
    for long, length in ((True, f"{LONG_WORDS} words or more"), (False, f"4 to {LONG_WORDS - 1} words")):
        shares = {edit: hits[long, edit] for edit in EDITS}
        print(f"found, {length}: " + ", ".join(f"{edit} {sum(h) / len(h):.3f}" for edit, h in shares.items()))
    copies = {_key(of_text, one, other) for one, other, _ in planted}
    sources = Counter(one for one, _, _ in planted)
    siblings = sum(count * (count - 1) // 2 for count in sources.values())
    print(f"pairs that were not planted: {len(found - copies):,} (two copies of one text: at most {siblings:,})")
    if alone:
        return
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
    numbers = [argument for argument in sys.argv[1:] if argument != "--alone"]
    main(int(numbers[0]) if numbers else 100_000, "--alone" in sys.argv)
