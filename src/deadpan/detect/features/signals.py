"""Signals besides the words: clashing sentiment, shouting, dots, laughter, echoes of the context.

All numbers are sums over words or simple functions of such sums, so many texts are computed at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.lexicon import ROLES, lexicon

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
"""Relations of a response to its context."""

NAMES = (*COUNTED, *DERIVED)

STEADY_SHARES = ("good", "strengthen", "call", "dots", "stretched", "laughter")
STEADY_DERIVED = (
    "clash", "opens_with_call", "opens_good", "ends_exclaiming", "ends_trailing", "ends_plain",
)  # fmt: skip
STEADY_SHARED = ("echo", "same_feeling", "feeling_turn", "answers_question")
STEADY = (*STEADY_SHARES, *STEADY_DERIVED)
"""Signals that point the same way in nearly all of 20 corpora (docs/corpus-audit.md); the first are per word. The
others (length, persons, negation, tags, pictures, ...) tell how a corpus was collected: what holds in one
corpus is wrong in the next."""

_AT = {name: place for place, name in enumerate(COUNTED)}
_LETTERS, _WORDS = _AT["letters"], _AT["words"]

_PUNCTUATION = {"exclamations": "!！", "questions": "?？", "quotes": '"“”‘«»*', "commas": ",;:"}
_DOTS = re.compile(r"\.{2,}|…")
_STRETCHED = re.compile(r"([^\W\d_])\1\1")
_LAUGHTER = re.compile(r"(?:^|\W)(?:a?(?:ha){2,}h?|l+o+l+|lmf?ao+|rofl)(?:$|\W)|[ㅋㅎ]{2,}|ه{3,}", re.I)
_PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]|[:;=8][-o']?[)(\\]\\[dDpP/|]|[ㅠㅜ]{2,}")


def word_signals(words: Sequence[str]) -> Array:
    """Return one row per word and one column per name of COUNTED."""
    table = np.zeros((len(words), len(COUNTED)))
    signals = [_signals(word) for word in words]
    rows = np.repeat(np.arange(len(words)), [len(cells) for cells in signals])
    cells = np.array([cell for cells in signals for cell in cells], dtype=np.float64).reshape(-1, 2)
    table[rows, cells[:, 0].astype(np.int64)] = cells[:, 1]
    return table


@lru_cache(maxsize=1 << 17)
def _signals(word: str) -> tuple[tuple[int, float], ...]:
    """Return the (column, value) pairs of a word that are not 0."""
    feeling, roles = lexicon().look(word)
    pairs: list[tuple[int, float]] = [(_LETTERS, min(len(word), 40)), (_WORDS, 1)]
    if feeling:
        pairs.append((0 if feeling > 0 else 1, abs(feeling)))
    pairs += [(_AT[role], 1) for role in roles]
    if word.islower() and word.isascii() and word.isalpha():
        if len(word) > 4 and _STRETCHED.search(word):
            pairs.append((_AT["stretched"], 1))
        if word[0] in "ahlr" and _LAUGHTER.search(word):
            pairs.append((_AT["laughter"], 1))
        return tuple(pairs)  # most words have no other signal
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
    return tuple(pairs + [(_AT[name], value) for name, value in marks.items() if value])


def text_signals(table: Array, words: Places, lengths: Places) -> Array:
    """Return one row per text and one column per name of NAMES; `words` are table rows, text after text."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    per_word = table[words]
    sums = np.zeros((len(lengths), len(COUNTED)))
    for place, column in enumerate(per_word.T):
        sums[:, place] = np.bincount(rows, weights=column, minlength=len(lengths))
    return np.hstack([np.log1p(sums), _derived(sums, per_word, rows, lengths)])


def steady_signals(signals: Array) -> Array:
    """Return the columns of STEADY from those of NAMES; none grows when a text is repeated."""
    words = np.maximum(np.expm1(signals[:, _WORDS]), 1)[:, None]
    shares = np.expm1(signals[:, [_AT[name] for name in STEADY_SHARES]]) / words
    derived = signals[:, [NAMES.index(name) for name in STEADY_DERIVED]].copy()
    derived[:, 0] = np.minimum(derived[:, 0], np.log1p(2.0))  # a clash is there or not
    return np.hstack([shares, derived])


def steady_shared(shared: Array) -> Array:
    """Return the relations to the context that are not about length."""
    return shared[:, [SHARED.index(name) for name in STEADY_SHARED]]


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
    """Return one row per text and one column per name of SHARED; `echo` is the share of repeated words."""
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
