"""A corpus of pairs for tests of commands: one of two answers holds a word."""

from __future__ import annotations

from deadpan.records import Example, Turn

# Two numbers per text: texts that differ in one word only would be near copies.
ODD = ["the red door", "a green leaf", "blue sky again", "one grey cat"]


def corpus(word: str = "sure", count: int = 48) -> list[Example]:
    return [
        Example(
            f"{word}-{n}",
            Turn("B", f"{ODD[n % 4]} {'oh ' + word if n % 2 else 'today'} {n} {n * 7919}"),
            (Turn("A", f"well {n}"),),
            label=bool(n % 2),
            group=f"{word}{n // 2}",
            sequence=f"{word}{n // 2}",
            meta={"topic": "tea" if n % 4 < 2 else "rain"},
        )
        for n in range(count)
    ]
