"""The form of options: numbers per option that can be told without understanding it.

A classifier of these finds answers that stand out among their rivals: by length, by words that no other
option has, by likeness to other options, or by little words such as "that", "and" and "not".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from deadpan.bench.items.item import OPTIONS
from deadpan.records import Item
from deadpan.stats.interval import FloatArray
from deadpan.text import sarc_tokens

LITTLE_WORDS = tuple(
    re.compile(pattern)
    for pattern in (
        r",",
        r"\band\b|\bor\b|\bbut\b",
        r"\b(?:that|which|whom?|since|because|as|though)\b|때문|라서|지만",
        r"\b(?:no|not|never|nobody|nothing|none|neither|without|cannot)\b|안 |못 |없|않|아니",
        r"\b(?:was|were|had|did|been)\b|[았었했]다",
        r"\b(?:he|she|they|him|her|his|them|their)\b|자기|그 ",
        r"\b(?:an?|the)\b",
        r"\b(?:would|could|may|might|seems?|perhaps|rather|almost|quite)\b|아마|듯|거의|조금",
    )
)
"""Punctuation, conjunctions, subordination, negation, past, pronouns, articles and hedges."""


def option_forms(items: Sequence[Item]) -> FloatArray:
    """Return a row per option: its numbers relative to the item's mean, and their ranks among the six."""
    rows = []
    for item in items:
        numbers = np.array(_numbers(item), dtype=np.float64)
        ranks = (numbers[:, None, :] > numbers[None, :, :]).sum(axis=1) / (OPTIONS - 1)
        rows.append(np.hstack([numbers - numbers.mean(axis=0), ranks - ranks.mean(axis=0)]))
    forms: FloatArray = np.concatenate(rows)
    return forms


def _numbers(item: Item) -> list[list[float]]:
    texts = [option.lower() for option in item.options]
    words = [[word for word in sarc_tokens(text) if word.isalnum()] for text in texts]
    having = Counter(word for each in words for word in set(each))
    alike = likenesses(words)
    found = []
    for place, (text, own) in enumerate(zip(texts, words, strict=True)):
        shared = [having[word] for word in set(own)]
        found.append(
            [
                float(len(text)),
                float(len(own)),
                len(text) / max(1, len(own)),
                *(float(sum(count == wanted for count in shared)) for wanted in (1, 2, 3)),
                float(sum(count > 3 for count in shared)),
                *sorted(alike[place])[-2:],
                sum(alike[place]) / max(1, len(alike[place])),
                *(float(len(pattern.findall(text))) for pattern in LITTLE_WORDS),
            ]
        )
    return found


def likenesses(words: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return per option its Jaccard index with every other option."""
    sets = [set(each) for each in words]
    return [
        [len(own & other) / max(1, len(own | other)) for at, other in enumerate(sets) if at != place]
        for place, own in enumerate(sets)
    ]
