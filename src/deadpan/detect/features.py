"""Examples as the numbers [linear] works on: n-grams of the response, of what came before, and signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.context import Context
from deadpan.detect.grams import Cut, cut, token_grams, word_runs
from deadpan.detect.keys import Keys, Places
from deadpan.detect.signals import shared_signals, text_signals, word_signals
from deadpan.records import Example

Array = NDArray[np.float64]
TOKENS, RUNS, BEFORE, BEFORE_RUNS = "tokens", "runs", "before", "before_runs"
SHARES = {TOKENS: 1.0, RUNS: 1.0, BEFORE: 0.5, BEFORE_RUNS: 0.5}
"""How long the rows of a kind of n-gram are: what was said before counts for less than the response."""
LONGEST = {TOKENS: 3, BEFORE: 2}
RUN_LENGTHS = (2, 5)
_OWN = np.uint64(0x0B0E)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Some examples: the n-grams of each kind (whose, key), cut texts for those by word, dense columns."""

    n: int
    grams: dict[str, tuple[Places, Keys]]
    cuts: dict[str, Cut]
    dense: Array


def extract(examples: Sequence[Example], context: Context) -> Features:
    """Everything [linear] looks at."""
    response = cut([example.response.text for example in examples])
    table = word_signals(response.words)
    dense = text_signals(table, response.flat, response.lengths)
    grams = {TOKENS: token_grams(response, LONGEST[TOKENS]), RUNS: word_runs(response, *RUN_LENGTHS)}
    cuts = {RUNS: response}
    if context.turns != 0:
        before = _before(examples, context)
        grams |= {BEFORE: _before_grams(examples, context), BEFORE_RUNS: word_runs(before, *RUN_LENGTHS)}
        cuts[BEFORE_RUNS] = before
        earlier = text_signals(word_signals(before.words), before.flat, before.lengths)
        dense = np.hstack([dense, shared_signals(dense, earlier, _echo(response, before))])
    return Features(len(examples), grams, cuts, dense)


def _before(examples: Sequence[Example], context: Context) -> Cut:
    return cut([" ".join(turn.text for turn in context.before(example)) for example in examples])


def _before_grams(examples: Sequence[Example], context: Context) -> tuple[Places, Keys]:
    """n-grams of the turns before; with speakers, those of the one who answers are features of their own."""
    turns: dict[bool, list[str]] = {False: [], True: []}
    for example in examples:
        said = list(zip(context.before(example), context.own(example), strict=True))
        for own in turns:
            turns[own].append(" ".join(turn.text for turn, by_self in said if by_self is own))
    found = []
    for own, texts in turns.items():
        rows, keys = token_grams(cut(texts), LONGEST[BEFORE])
        found.append((rows, keys ^ _OWN if own else keys))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([keys for _, keys in found])


def _echo(response: Cut, before: Cut) -> Array:
    """The share of a response's words that were said before, letters only."""
    names: dict[str, int] = {}
    codes = [
        np.array([names.setdefault(_letters(word), len(names)) for word in each.words], dtype=np.int64)
        for each in (response, before)
    ]
    said = [
        each.rows * (len(names) + 1) + code[each.flat]
        for each, code in zip((response, before), codes, strict=True)
    ]
    repeated = np.bincount(response.rows, weights=np.isin(said[0], said[1]), minlength=len(response.lengths))
    share: Array = repeated / np.maximum(response.lengths, 1)
    return share


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower())) or word
