"""Small corpora for tests of detectors: a word decides, so that a word model learns them."""

from __future__ import annotations

import numpy as np

from deadpan.records import Example, Turn


def word_corpus(word: str = "sure", count: int = 60) -> list[Example]:
    """Sarcastic texts hold a word; the context tells the label too."""
    rng = np.random.default_rng(len(word))
    rows = []
    for number in range(count):
        label = bool(number % 2)
        # Short words, so that two texts that differ in one word are no near copies.
        filler = " ".join(rng.choice(["red", "tan", "sky", "ash"], 3))
        rows.append(
            Example(
                f"{word}-{number}",
                Turn("B", f"{filler} {word if label else 'today'} {number}"),
                (Turn("A", "is it so" if label else "when was that"),),
                label=label,
                group=str(number // 2),
                meta={"topic": "tea" if number < count / 2 else "rain"},
            )
        )
    return rows


def noise_corpus(count: int = 80) -> list[Example]:
    """Texts that say nothing about their label, all different: an honest score is near chance."""
    rng = np.random.default_rng(7)
    names = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 9)) for _ in range(6 * count)]
    return [
        Example(
            f"noise-{number}",
            Turn("", " ".join(names[6 * number : 6 * number + 6])),
            label=bool(rng.integers(2)) if number > 1 else bool(number),
            group=f"g{number}",
        )
        for number in range(count)
    ]
