"""Language check by the letters of a text and its most common words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

LETTERS_SHARE = 0.6
"""Smallest share of letters in the language's script; the rest may be brand names and the like."""
WORDS_SHARE = 0.08
"""Smallest share of common words: English prose has about 0.4, chat 0.15; German and French below 0.05."""
FEW_WORDS = 8

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def letters_share(text: str, letters: str) -> float | None:
    """Return the share of a text's letters in a script, by their Unicode names; None without letters."""
    letter_counts = {c: n for c, n in Counter(unicodedata.normalize("NFC", text)).items() if c.isalpha()}
    if not letter_counts:
        return None
    script = letters.upper()
    return sum(n for letter, n in letter_counts.items() if _is_of(letter, script)) / sum(
        letter_counts.values()
    )


@lru_cache(20_000)  # a language's letters are few, and looking one up is slow
def _is_of(letter: str, script: str) -> bool:
    return unicodedata.name(letter, "").startswith(script)


def in_language(texts: Sequence[str], letters: str, common_words: Sequence[str] = ()) -> bool:
    """Return whether every text has the script's letters, and all together the language's common words.

    A text without letters ("...?!") passes, and so do texts of fewer than FEW_WORDS words.
    """
    for text in texts:
        share = letters_share(text, letters)
        if share is not None and share < LETTERS_SHARE:
            return False
    words = [word.lower().replace("’", "'") for text in texts for word in _WORD.findall(text)]
    if not common_words or len(words) < FEW_WORDS:
        return True
    common = set(common_words)
    return sum(word in common for word in words) / len(words) >= WORDS_SHARE
