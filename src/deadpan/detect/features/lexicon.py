"""A small sentiment lexicon of our own, in English, Korean and Arabic."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

STRENGTHS = {"very_good": 2.0, "good": 1.0, "bad": -1.0, "very_bad": -2.0}
ROLES = ("strengthen", "weaken", "negate", "call", "me", "you", "they")
"""Roles of words besides sentiment: intensifier, downtoner, negation, interjection (oh, wow), person."""

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


class Lexicon:
    """Words with sentiment and roles. English words are matched whole, Korean and Arabic by substrings."""

    def __init__(self, tables: dict[str, dict[str, str]]) -> None:
        self.feeling: dict[str, float] = {}
        self.role: dict[str, frozenset[str]] = {}
        for kind, text in tables["en"].items():
            for word in text.split():
                if kind in STRENGTHS:
                    self.feeling[word] = STRENGTHS[kind]
                else:
                    self.role[word] = self.role.get(word, frozenset()) | {kind}
        held = {kind: [table[kind] for name, table in tables.items() if name != "en" and kind in table]
                for kind in (*STRENGTHS, *ROLES)}  # fmt: skip
        self._held = {
            kind: re.compile("|".join(map(re.escape, " ".join(texts).split())))
            for kind, texts in held.items()
            if texts
        }

    def look(self, word: str) -> tuple[float, frozenset[str]]:
        """Return the sentiment of a word, from -2 to 2, and its roles."""
        plain = _EDGES.sub("", word.lower()).replace("’", "'")
        if plain.isascii():
            return self.feeling.get(plain, 0.0), self.role.get(plain, frozenset())
        kinds = [kind for kind, pattern in self._held.items() if pattern.search(plain)]
        strengths = [STRENGTHS[kind] for kind in kinds if kind in STRENGTHS]
        return max(strengths, key=abs, default=0.0), frozenset(kind for kind in kinds if kind in ROLES)


@cache
def lexicon() -> Lexicon:
    """Return the lexicon of the package, read once."""
    text = Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")
    return Lexicon(tomllib.loads(text))
