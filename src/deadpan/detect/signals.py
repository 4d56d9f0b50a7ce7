"""What a reader notices besides the words: feeling that clashes, shouting, dots, laughter, echoes.

All numbers are sums over words, or simple functions of such sums, so a whole list of texts is done at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.lexicon import ROLES, lexicon

Array = NDArray[np.float64]
Places = NDArray[np.int64]

COUNTED = (
    "good", "bad", *ROLES, "exclamations", "questions", "dots", "quotes", "shouted", "stretched", "laughter",
    "pictures", "tags", "users", "links", "figures", "commas", "letters", "words",
)  # fmt: skip
"""Sums over the words of a text."""

DERIVED = (
    "feeling", "clash", "turns", "strong_feeling", "denied_feeling", "shouted_share", "word_length",
    "opens_with_call", "opens_good", "ends_exclaiming", "ends_asking", "ends_trailing", "ends_plain",
)  # fmt: skip
"""Functions of the sums, and of the first and last words."""

SHARED = ("echo", "same_feeling", "feeling_turn", "longer", "answers_question", "before_words")
"""How a response stands to what was said before it."""

NAMES = (*COUNTED, *DERIVED)

_AT = {name: place for place, name in enumerate(COUNTED)}
_LETTERS, _WORDS = _AT["letters"], _AT["words"]

_PUNCTUATION = {"exclamations": "!！", "questions": "?？", "quotes": '"“”‘«»*', "commas": ",;:"}
_DOTS = re.compile(r"\.{2,}|…")
_STRETCHED = re.compile(r"([^\W\d_])\1\1")
_LAUGHTER = re.compile(r"(?:^|\W)(?:a?(?:ha){2,}h?|l+o+l+|lmf?ao+|rofl)(?:$|\W)|[ㅋㅎ]{2,}|ه{3,}", re.I)
_PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]|[:;=8][-o']?[)(\\]\\[dDpP/|]|[ㅠㅜ]{2,}")


def word_signals(words: Sequence[str]) -> Array:
    """One row a word, one column a name of COUNTED."""
    table = np.zeros((len(words), len(COUNTED)))
    found = [_signals(word) for word in words]
    rows = np.repeat(np.arange(len(words)), [len(each) for each in found])
    cells = np.array([cell for each in found for cell in each], dtype=np.float64).reshape(-1, 2)
    table[rows, cells[:, 0].astype(np.int64)] = cells[:, 1]
    return table


@lru_cache(maxsize=1 << 17)
def _signals(word: str) -> tuple[tuple[int, float], ...]:
    """The columns a word has something in, and what."""
    feeling, roles = lexicon().look(word)
    found: list[tuple[int, float]] = [(_LETTERS, min(len(word), 40)), (_WORDS, 1)]
    if feeling:
        found.append((0 if feeling > 0 else 1, abs(feeling)))
    found += [(_AT[role], 1) for role in roles]
    if word.islower() and word.isascii() and word.isalpha():
        if len(word) > 4 and _STRETCHED.search(word):
            found.append((_AT["stretched"], 1))
        if word[0] in "ahlr" and _LAUGHTER.search(word):
            found.append((_AT["laughter"], 1))
        return tuple(found)  # most words have nothing else to look for
    marks: Mapping[str, float] = {
        name: sum(map(word.count, signs)) for name, signs in _PUNCTUATION.items()
    } | {
        "dots": bool(_DOTS.search(word)),
        "shouted": word.isupper() and sum(map(str.isalpha, word)) > 1,
        "stretched": bool(_STRETCHED.search(word)),
        "laughter": bool(_LAUGHTER.search(word)),
        "pictures": bool(_PICTURE.search(word)),
        "tags": word.startswith("#"),
        "users": word.startswith("@"),
        "links": word.startswith(("http", "www.")),
        "figures": any(map(str.isdecimal, word)),
    }
    return tuple(found + [(_AT[name], value) for name, value in marks.items() if value])


def text_signals(table: Array, words: Places, lengths: Places) -> Array:
    """One row a text, one column a name of NAMES; `words` are rows of the table, text after text."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    per_word = table[words]
    sums = np.zeros((len(lengths), len(COUNTED)))
    for place, column in enumerate(per_word.T):
        sums[:, place] = np.bincount(rows, weights=column, minlength=len(lengths))
    return np.hstack([np.log1p(sums), _derived(sums, per_word, rows, lengths)])


def _derived(sums: Array, per_word: Array, rows: Places, lengths: Places) -> Array:
    at = _AT
    good, bad, count = sums[:, at["good"]], sums[:, at["bad"]], np.maximum(sums[:, at["words"]], 1)
    feeling = per_word[:, 0] - per_word[:, 1]
    beside = np.zeros((len(lengths), 3))
    if len(feeling) > 1:
        together = rows[1:] == rows[:-1]
        follows = {
            0: (feeling[1:] * feeling[:-1] < 0),
            1: (feeling[1:] != 0) & (per_word[:-1, at["strengthen"]] > 0),
            2: (feeling[1:] != 0) & (per_word[:-1, at["negate"]] > 0),
        }
        for column, mark in follows.items():
            beside[:, column] = np.bincount(rows[1:], weights=mark & together, minlength=len(lengths))
    has = lengths > 0
    last = np.cumsum(lengths) - 1
    first = last - lengths + 1
    ends = np.zeros((len(lengths), 6))
    if has.any():
        opening, closing = per_word[first[has]], per_word[last[has]]
        ends[has, 0], ends[has, 1] = opening[:, at["call"]] > 0, opening[:, 0] > 0
        asks, exclaims = closing[:, at["questions"]] > 0, closing[:, at["exclamations"]] > 0
        trails = closing[:, at["dots"]] > 0
        ends[has, 2], ends[has, 3], ends[has, 4] = exclaims, asks, trails
        ends[has, 5] = ~(asks | exclaims | trails)
    shares = np.stack([sums[:, at["shouted"]] / count, sums[:, at["letters"]] / count / 10], axis=1)
    clash = np.minimum(good, bad)
    return np.hstack([np.stack([np.tanh((good - bad) / 2), np.log1p(clash)], axis=1), beside, shares, ends])


def shared_signals(response: Array, before: Array, echo: Array) -> Array:
    """One row a text, one column a name of SHARED; `echo` is the share of its words said before."""
    feeling, words = NAMES.index("feeling"), NAMES.index("words")
    asked = before[:, NAMES.index("ends_asking")]
    return np.stack(
        [
            echo,
            response[:, feeling] * before[:, feeling],
            np.abs(response[:, feeling] - before[:, feeling]),
            response[:, words] - before[:, words],
            asked,
            before[:, words],
        ],
        axis=1,
    )
