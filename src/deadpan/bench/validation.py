"""Whether a set is one: ids, checklists, balanced answers, pairs that are pairs, no duplicates."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from deadpan.bench.items import CHECKS, LETTERS, OPTIONS
from deadpan.bench.sets import ItemSet
from deadpan.records import Item
from deadpan.text import fold, sarc_tokens

ALIKE_CONTEXTS = 0.6
"""Words two contexts of a pair share in order, at least: one small change, not another story."""
NEAR_COPY = 0.9
POSITION_P = 0.01


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a set, and where."""

    item: str
    what: str
    cure: str


def validate(items: ItemSet) -> list[Problem]:
    """Everything that is wrong, item by item, then of pairs, then of the set."""
    found: list[Problem] = []
    for item in items.items:
        found += _of_item(item)
    found += _of_pairs(items.items)
    found += _of_copies(items.items)
    return found + list(_of_positions(items.items))


def _of_item(item: Item) -> Iterator[Problem]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", item.version):
        yield Problem(item.id, f"version {item.version!r}", "give three numbers, such as 0.2.0")
    if len({fold(option) for option in item.options}) < OPTIONS:
        yield Problem(item.id, "two options say the same", "replace one")
    if not item.context:
        yield Problem(item.id, "no context", "say what happened before the remark")
    missing = [name for name in CHECKS if name not in item.checks]
    if missing:
        yield Problem(item.id, f"checklist without {missing[0]}", "answer every check")
    for name, answer in item.checks.items():
        if not answer:
            yield Problem(item.id, f"its checklist says no to {name}", "rewrite or drop the item")
    for name in ("author", "licence", "canary", "difficulty"):
        if not getattr(item, name).strip():
            yield Problem(item.id, f"no {name}", "write it")


def _of_pairs(items: Sequence[Item]) -> Iterator[Problem]:
    pairs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.pair_id:
            pairs[item.pair_id].append(item)
    for name, members in pairs.items():
        if len(members) != 2:
            yield Problem(name, f"a pair of {len(members)}", "a minimal pair has two items")
            continue
        one, other = members
        if one.utterance != other.utterance:
            yield Problem(name, "its utterances differ", "only the context may change")
        if one.question != other.question:
            yield Problem(name, "its questions differ", "ask both the same")
        if set(one.options) != set(other.options):
            yield Problem(name, "its options differ", "offer both the same six")
        if one.options[one.answer] == other.options[other.answer]:
            yield Problem(name, "its answers are the same", "the change must flip the answer")
        alike = SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()
        if alike == 1.0:
            yield Problem(name, "its contexts are the same", "one small change must flip the answer")
        elif alike < ALIKE_CONTEXTS:
            yield Problem(name, f"its contexts share only {alike:.0%}", "make it one small change")


def _words(item: Item) -> list[str]:
    return [word for turn in item.context for word in sarc_tokens(f"{turn.speaker} {turn.text}")]


def _of_copies(items: Sequence[Item]) -> Iterator[Problem]:
    """Items of different families that say nearly the same."""
    shingles = []
    for item in items:
        words = [*_words(item), *sarc_tokens(item.utterance)]
        shingles.append({tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2))})
    for second, item in enumerate(items):
        for first in range(second):
            other = items[first]
            if item.pair_id and item.pair_id == other.pair_id:
                continue
            both = len(shingles[first] & shingles[second])
            if both and both / len(shingles[first] | shingles[second]) >= NEAR_COPY:
                yield Problem(item.id, f"nearly the same as {other.id}", "drop one of them")


def _of_positions(items: Sequence[Item]) -> Iterator[Problem]:
    """Answers that favour a letter more than luck would (chi-square, exact enough from 60 items)."""
    counts = Counter(item.answer for item in items)
    expected = len(items) / OPTIONS
    chi = sum((counts[place] - expected) ** 2 / expected for place in range(OPTIONS))
    if _tail(chi) < POSITION_P:
        shown = ", ".join(f"{LETTERS[place]} {counts[place]}" for place in range(OPTIONS))
        yield Problem("the set", f"answer positions are not balanced ({shown})", "reorder options")


def _tail(chi: float) -> float:
    """The upper tail of chi-square with five degrees of freedom, in closed form."""
    half = chi / 2
    series = math.sqrt(2 * chi / math.pi) * math.exp(-half) * (1 + chi / 3)
    return math.erfc(math.sqrt(half)) + series
