"""Features of the linear system: n-grams of the response, n-grams of the context, and signals."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import Context
from deadpan.detect.systems.ngrams import Cut, Keys, Places, cut, once, token_grams, word_runs
from deadpan.records import Example, Turn

Array = NDArray[np.float64]
Signals = Literal["steady", "all", "none"]
TOKENS, RUNS, BEFORE, BEFORE_RUNS, CLASH = "tokens", "runs", "before", "before_runs", "clash"
SHARES = {TOKENS: 1.0, RUNS: 1.0, BEFORE: 0.5, BEFORE_RUNS: 0.5, CLASH: 0.5}
"""Length of the rows of each kind of n-gram: the context counts for less than the response."""
LONGEST = {TOKENS: 3, BEFORE: 2}
RUN_LENGTHS = (2, 5)
# Mixed into a key, they make it another feature: said by the responder before, after bad or good words, ...
_OWN = np.uint64(0x0B0E)
_AFTER_BAD, _AFTER_GOOD, _BAD_AFTER, _GOOD_AFTER = map(np.uint64, (0x0BAD, 0x600D, 0xBADA, 0x60DA))
STRENGTHS = {"very_good": 2.0, "good": 1.0, "bad": -1.0, "very_bad": -2.0}
ROLES = ("strengthen", "weaken", "negate", "call", "me", "you", "they")
"""Roles of words besides sentiment: intensifier, downtoner, negation, interjection (oh, wow), person."""
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
"""Signals that point the same way in nearly all of 20 corpora (docs/corpus-audit.md); the first are per word.
The others (length, persons, negation, tags, pictures, ...) tell how a corpus was collected: what holds in one
corpus is wrong in the next."""
_AT = {name: place for place, name in enumerate(COUNTED)}
_LETTERS, _WORDS = _AT["letters"], _AT["words"]
_PUNCTUATION = {"exclamations": "!！", "questions": "?？", "quotes": '"“”‘«»*', "commas": ",;:"}
_DOTS = re.compile(r"\.{2,}|…")
_STRETCHED = re.compile(r"([^\W\d_])\1\1")
_LAUGHTER = re.compile(r"(?:^|\W)(?:a?(?:ha){2,}h?|l+o+l+|lmf?ao+|rofl)(?:$|\W)|[ㅋㅎ]{2,}|ه{3,}", re.I)
_PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]|[:;=8][-o']?[)(\\]\\[dDpP/|]|[ㅠㅜ]{2,}")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of some examples: n-grams of each kind (row, key), tokenised texts, dense columns, and all signals."""

    n: int
    grams: dict[str, tuple[Places, Keys]]
    cuts: dict[str, Cut]
    dense: Array
    look: Array


def extract(examples: Sequence[Example], context: Context, signals: Signals = "steady") -> Features:
    """Return all features of the examples; n-grams and words count once per text."""
    response = cut([example.response.text for example in examples])
    table = word_signals(response.words)
    dense = text_signals(table, response.flat, response.lengths)
    grams = {TOKENS: token_grams(response, LONGEST[TOKENS]), RUNS: word_runs(response, *RUN_LENGTHS)}
    cuts = {RUNS: response.distinct()}
    shared = np.zeros((len(examples), 0))
    if context.turns != 0:
        said = [context.before(example) if example.context else () for example in examples]
        before = cut([" ".join(turn.text for turn in turns) for turns in said])
        grams |= {BEFORE: _before_grams(examples, said, context), BEFORE_RUNS: word_runs(before, *RUN_LENGTHS)}
        cuts[BEFORE_RUNS] = before.distinct()
        earlier = text_signals(word_signals(before.words), before.flat, before.lengths)
        shared = shared_signals(dense, earlier, _echo(response, before))
        feeling = NAMES.index("feeling")
        grams[CLASH] = _clash(grams, dense[:, feeling], earlier[:, feeling])
    look = np.hstack([dense, shared])
    if signals == "steady":
        dense, shared = steady_signals(dense), steady_shared(shared) if shared.shape[1] else shared
    dense = np.hstack([dense, shared])
    return Features(len(examples), grams, cuts, dense[:, :0] if signals == "none" else dense, look)


def _clash(grams: Mapping[str, tuple[Places, Keys]], response: Array, before: Array) -> tuple[Places, Keys]:
    """Return the context's n-grams before good or bad words, and the response's n-grams after good or bad ones.

    "Wonderful" after "the train is late" is another feature than after "the train is here".
    """
    parts = []
    for kind, feeling, bad, good in (
        (BEFORE, response, _BAD_AFTER, _GOOD_AFTER), (TOKENS, before, _AFTER_BAD, _AFTER_GOOD),
    ):  # fmt: skip
        rows, keys = grams[kind]
        felt = feeling[rows]
        some = felt != 0
        parts.append((rows[some], keys[some] ^ np.where(felt[some] > 0, good, bad)))
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([keys for _, keys in parts])


def _before_grams(examples: Sequence[Example], said: Sequence[Sequence[Turn]], context: Context) -> tuple[Places, Keys]:
    """Return the n-grams of the context; with speakers, those by the responder are separate features."""
    parts = []
    owners = [context.own(example) if turns else () for example, turns in zip(examples, said, strict=True)]
    for own in (False, True):
        texts = [
            " ".join(turn.text for turn, by_self in zip(turns, mine, strict=True) if by_self is own)
            for turns, mine in zip(said, owners, strict=True)
        ]
        rows, keys = token_grams(cut(texts), LONGEST[BEFORE])
        parts.append((rows, keys ^ _OWN if own else keys))
    return once(np.concatenate([rows for rows, _ in parts]), np.concatenate([keys for _, keys in parts]))


def _echo(response: Cut, before: Cut) -> Array:
    """Return the share of a response's words that occur in its context, letters only."""
    if not before.words:
        return np.zeros(len(response.lengths))
    names: dict[str, int] = {}
    codes = [
        np.array([names.setdefault(_letters(word), len(names)) for word in each.words], dtype=np.int64)
        for each in (response, before)
    ]
    pairs = [
        each.rows * (len(names) + 1) + code[each.flat] for each, code in zip((response, before), codes, strict=True)
    ]
    repeated = np.bincount(response.rows, weights=np.isin(pairs[0], pairs[1]), minlength=len(response.lengths))
    share: Array = repeated / np.maximum(response.lengths, 1)
    return share


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower())) or word


def word_signals(words: Sequence[str]) -> Array:
    """Return one row per word and one column per name of COUNTED."""
    table = np.zeros((len(words), len(COUNTED)))
    signals = [_signals(word) for word in words]
    rows = np.repeat(np.arange(len(words)), [len(cells) for cells in signals])
    flat = chain.from_iterable(chain.from_iterable(signals))
    cells = np.fromiter(flat, np.float64, 2 * len(rows)).reshape(-1, 2)
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
    marks: Mapping[str, float] = {name: sum(map(word.count, signs)) for name, signs in _PUNCTUATION.items()} | {
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
    if len(words):
        has = lengths > 0  # for an empty stretch, reduceat would return the next text's first word
        sums[has] = np.add.reduceat(per_word, (np.cumsum(lengths) - lengths)[has], axis=0)
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
            kind: re.compile("|".join(map(re.escape, " ".join(texts).split()))) for kind, texts in held.items() if texts
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
