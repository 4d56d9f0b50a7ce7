"""Validation of a set: checklists, balanced answers, true minimal pairs, no duplicates."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from deadpan.bench.items.item import CHECKS, LETTERS, OPTIONS
from deadpan.bench.items.sets import AskPassphrase, ItemSet, count_pairs, open_set
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Item
from deadpan.results import Result
from deadpan.text import fold, sarc_tokens
from deadpan.validation import encode

ALIKE_CONTEXTS = 0.6
"""The share of words, in order, that the contexts of a pair must have in common."""
NEAR_COPY = 0.9
POSITION_P = 0.01


@dataclass(frozen=True, slots=True)
class SetProblem:
    """One thing that is wrong with a set, and where."""

    item: str
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class SetValidation(Result):
    """The problems of a set; none for a sound one."""

    set: ItemSet
    problems: tuple[SetProblem, ...]

    @property
    def passed(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, object]:
        """Return the set and its problems."""
        found = {"set": self.set.label, "items": len(self.set.items), "hash": self.set.hash}
        return {**found, "passed": self.passed, "problems": encode(self.problems)}

    def summary(self) -> Summary:
        """Return one row per problem and the verdict."""
        rows = tuple((each.item, each.what, each.cure) for each in self.problems)
        verdict = f"{len(rows)} problem{'s' * (len(rows) > 1)}" if rows else "valid"
        note = (
            f"{self.set.label}: {len(self.set.items)} items, {count_pairs(self.set)} pairs, {verdict} "
            f"({self.set.hash[:12]})"
        )
        return Summary((Table(("item", "problem", "fix"), rows),) if rows else (), (note,))


def validate_set(items: str | Path | ItemSet, *, ask: AskPassphrase | None = None) -> SetValidation:
    """Check every item, then the pairs, then the whole set."""
    opened = open_set(items, ask)
    found = [problem for item in opened.items for problem in _of_item(item)]
    for check in (_of_pairs, _of_copies, _of_positions):
        found += check(opened.items)
    return SetValidation(opened, tuple(found))


def _of_item(item: Item) -> Iterator[SetProblem]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", item.version):
        yield SetProblem(item.id, f"version {item.version!r}", "give three numbers, such as 0.2.0")
    if len({fold(option) for option in item.options}) < OPTIONS:
        yield SetProblem(item.id, "two options are equal", "replace one")
    if not item.context:
        yield SetProblem(item.id, "no context", "say what happened before the remark")
    missing = [name for name in CHECKS if name not in item.checks]
    if missing:
        yield SetProblem(item.id, f"checklist without {missing[0]}", "answer every check")
    for name, answer in item.checks.items():
        if not answer:
            yield SetProblem(item.id, f"the checklist says no to {name}", "rewrite or drop the item")
    for name in ("author", "licence", "canary", "difficulty"):
        if not getattr(item, name).strip():
            yield SetProblem(item.id, f"no {name}", "write it")


def _of_pairs(items: Sequence[Item]) -> Iterator[SetProblem]:
    pairs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.pair_id:
            pairs[item.pair_id].append(item)
    for name, members in pairs.items():
        if len(members) != 2:
            yield SetProblem(name, f"a pair of {len(members)}", "a minimal pair has two items")
            continue
        one, other = members
        if one.utterance != other.utterance:
            yield SetProblem(name, "its utterances differ", "only the context may change")
        if one.question != other.question:
            yield SetProblem(name, "its questions differ", "ask both the same")
        if set(one.options) != set(other.options):
            yield SetProblem(name, "its options differ", "offer both the same six")
        if one.options[one.answer] == other.options[other.answer]:
            yield SetProblem(name, "its answers are the same", "the change must flip the answer")
        alike = SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()
        if alike == 1.0:
            yield SetProblem(name, "its contexts are the same", "one small change must flip the answer")
        elif alike < ALIKE_CONTEXTS:
            yield SetProblem(name, f"its contexts share only {alike:.0%}", "make it one small change")


def _words(item: Item) -> list[str]:
    return [
        word for turn in (*item.context, *item.after) for word in sarc_tokens(f"{turn.speaker} {turn.text}")
    ]


def _of_copies(items: Sequence[Item]) -> Iterator[SetProblem]:
    """Find items of different families whose texts are nearly equal."""
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
                yield SetProblem(item.id, f"nearly the same as {other.id}", "drop one of them")


def _of_positions(items: Sequence[Item]) -> Iterator[SetProblem]:
    """Test whether answers favour a letter beyond chance (chi-square; reliable from 60 items)."""
    counts = Counter(item.answer for item in items)
    expected = len(items) / OPTIONS
    chi = sum((counts[place] - expected) ** 2 / expected for place in range(OPTIONS))
    if _tail(chi) < POSITION_P:
        shown = ", ".join(f"{LETTERS[place]} {counts[place]}" for place in range(OPTIONS))
        yield SetProblem("the set", f"answer positions are not balanced ({shown})", "reorder options")


def _tail(chi: float) -> float:
    """Return the upper tail of chi-square with five degrees of freedom, in closed form."""
    half = chi / 2
    series = math.sqrt(2 * chi / math.pi) * math.exp(-half) * (1 + chi / 3)
    return math.erfc(math.sqrt(half)) + series
