"""Features of the linear system: n-grams of the response, n-grams of the context, and signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.context import Context
from deadpan.detect.features.grams import Cut, cut, once, token_grams, word_runs
from deadpan.detect.features.keys import Keys, Places
from deadpan.detect.features.signals import (
    shared_signals,
    steady_shared,
    steady_signals,
    text_signals,
    word_signals,
)
from deadpan.records import Example

Array = NDArray[np.float64]
Signals = Literal["steady", "all", "none"]
TOKENS, RUNS, BEFORE, BEFORE_RUNS = "tokens", "runs", "before", "before_runs"
SHARES = {TOKENS: 1.0, RUNS: 1.0, BEFORE: 0.5, BEFORE_RUNS: 0.5}
"""Length of the rows of each kind of n-gram: the context counts for less than the response."""
LONGEST = {TOKENS: 3, BEFORE: 2}
RUN_LENGTHS = (2, 5)
_OWN = np.uint64(0x0B0E)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of some examples: n-grams of each kind (row, key), tokenised texts, and dense columns."""

    n: int
    grams: dict[str, tuple[Places, Keys]]
    cuts: dict[str, Cut]
    dense: Array


def extract(examples: Sequence[Example], context: Context, signals: Signals = "steady") -> Features:
    """Return all features of the examples; n-grams and words count once per text."""
    response = cut([example.response.text for example in examples])
    table = word_signals(response.words)
    dense = text_signals(table, response.flat, response.lengths)
    grams = {TOKENS: token_grams(response, LONGEST[TOKENS]), RUNS: word_runs(response, *RUN_LENGTHS)}
    cuts = {RUNS: response.distinct()}
    shared = np.zeros((len(examples), 0))
    if context.turns != 0:
        before = _before(examples, context)
        grams |= {BEFORE: _before_grams(examples, context), BEFORE_RUNS: word_runs(before, *RUN_LENGTHS)}
        cuts[BEFORE_RUNS] = before.distinct()
        earlier = text_signals(word_signals(before.words), before.flat, before.lengths)
        shared = shared_signals(dense, earlier, _echo(response, before))
    if signals == "steady":
        dense, shared = steady_signals(dense), steady_shared(shared) if shared.shape[1] else shared
    dense = np.hstack([dense, shared])
    return Features(len(examples), grams, cuts, dense[:, :0] if signals == "none" else dense)


def _before(examples: Sequence[Example], context: Context) -> Cut:
    return cut([" ".join(turn.text for turn in context.before(example)) for example in examples])


def _before_grams(examples: Sequence[Example], context: Context) -> tuple[Places, Keys]:
    """Return the n-grams of the context; with speakers, those by the responder are separate features."""
    turns: dict[bool, list[str]] = {False: [], True: []}
    for example in examples:
        spoken = list(zip(context.before(example), context.own(example), strict=True))
        for own in turns:
            turns[own].append(" ".join(turn.text for turn, by_self in spoken if by_self is own))
    parts = []
    for own, texts in turns.items():
        rows, keys = token_grams(cut(texts), LONGEST[BEFORE])
        parts.append((rows, keys ^ _OWN if own else keys))
    return once(np.concatenate([rows for rows, _ in parts]), np.concatenate([keys for _, keys in parts]))


def _echo(response: Cut, before: Cut) -> Array:
    """Return the share of a response's words that occur in its context, letters only."""
    names: dict[str, int] = {}
    codes = [
        np.array([names.setdefault(_letters(word), len(names)) for word in each.words], dtype=np.int64)
        for each in (response, before)
    ]
    pairs = [
        each.rows * (len(names) + 1) + code[each.flat]
        for each, code in zip((response, before), codes, strict=True)
    ]
    repeated = np.bincount(
        response.rows, weights=np.isin(pairs[0], pairs[1]), minlength=len(response.lengths)
    )
    share: Array = repeated / np.maximum(response.lengths, 1)
    return share


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower())) or word
