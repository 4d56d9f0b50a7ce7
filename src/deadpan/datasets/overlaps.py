"""Overlaps between parts of corpora: duplicate texts, speakers, groups, sequences and contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deadpan.datasets.label_cues import real_name
from deadpan.duplicates import NEAR, SHORT_WORDS, distinct, identity, near_duplicates, word_count
from deadpan.records import Example

# Instances shown of each finding.
_SHOWN = 5

_CLIP = 120

BoolArray = NDArray[np.bool_]
Columns = Sequence[int]


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """One split of a corpus, or a corpus that has none."""

    corpus: str
    split: str
    examples: Sequence[Example]

    @property
    def name(self) -> str:
        return f"{self.corpus}/{self.split}" if self.split else self.corpus


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two rows with the same text; `similar` is "identical" or "near"."""

    left: str
    right: str
    left_text: str
    right_text: str
    similar: str


@dataclass(frozen=True, slots=True)
class DuplicateCount:
    """The rows of one part that have a duplicate in the other.

    `identical` ignores case, punctuation, links and users; `short` are those of them too short to be
    distinctive; `near` have a near-identical duplicate only. `share` is identical and near of n.
    """

    name: str
    n: int
    identical: int
    short: int
    near: int
    share: float

    @property
    def leaked(self) -> int:
        """Rows whose duplicate is no coincidence."""
        return self.identical - self.short + self.near


@dataclass(frozen=True, slots=True)
class Overlap:
    """Texts that two parts share, counted in each; `disagreeing` ones are labelled differently."""

    left: DuplicateCount
    right: DuplicateCount
    disagreeing: int
    pairs: tuple[DuplicatePair, ...]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Texts that occur more than once in one part; `conflicts` have both labels."""

    name: str
    n: int
    repeated: int
    near: int
    conflicts: int
    conflicting_rows: int
    short_conflicts: int
    pairs: tuple[DuplicatePair, ...]


class TextIndex:
    """The distinct texts of some parts, and how many rows of each part are identical or near to each."""

    def __init__(self, parts: Sequence[CorpusPart], threshold: float = NEAR) -> None:
        self.parts = tuple(parts)
        self.rows = [example for part in parts for example in part.examples]
        self.part = np.repeat(np.arange(len(parts)), [len(part.examples) for part in parts])
        keys, self.key = distinct(example.response.text for example in self.rows)
        words = np.fromiter(map(word_count, keys), np.int64, len(keys))
        self.short = words < SHORT_WORDS
        shape = (len(self.parts), len(keys))
        labels = np.array([_sign(example.label) for example in self.rows], dtype=np.int64)
        self.count = self._table(shape, np.ones(len(self.rows), np.bool_))
        self.sarcastic = self._table(shape, labels > 0)
        self.plain = self._table(shape, labels < 0)
        self.near = np.zeros(shape, dtype=np.int32)
        self.partner = np.full(shape, -1, dtype=np.int32)
        self._find_near(keys, threshold)
        self._by_key = np.argsort(self.key, kind="stable")
        self._first = np.searchsorted(self.key[self._by_key], np.arange(len(keys) + 1))

    def _table(self, shape: tuple[int, int], chosen: BoolArray) -> NDArray[np.int32]:
        """Count rows by part and text."""
        table = np.zeros(shape, dtype=np.int32)
        np.add.at(table, (self.part[chosen], self.key[chosen]), 1)
        return table

    def _find_near(self, keys: list[str], threshold: float) -> None:
        left, right = near_duplicates(keys, threshold)
        for one, other in ((left, right), (right, left)):
            for part in range(len(self.parts)):
                there = self.count[part, other] > 0
                np.add.at(self.near[part], one[there], self.count[part, other[there]])
                self.partner[part, one[there]] = other[there]

    def columns(self, corpus: str) -> list[int]:
        """Return the positions of the parts of a corpus."""
        return [at for at, part in enumerate(self.parts) if part.corpus == corpus]

    def count_duplicates(self, name: str, here: Columns, there: Columns) -> DuplicateCount:
        """Count the rows of some parts that have a duplicate in others."""
        rows = self.count[here].sum(axis=0)
        same = self.count[there].any(axis=0)
        near = self.near[there].any(axis=0) & ~same
        n, identical, close = int(rows.sum()), int(rows[same].sum()), int(rows[near].sum())
        short = int(rows[same & self.short].sum())
        return DuplicateCount(name, n, identical, short, close, (identical + close) / n if n else 0.0)

    def overlap(self, names: tuple[str, str], left: Columns, right: Columns) -> Overlap:
        """Return the texts that two groups of parts share."""
        labels = [(self.sarcastic[at].any(axis=0), self.plain[at].any(axis=0)) for at in (left, right)]
        (left_yes, left_no), (right_yes, right_no) = labels
        disagreeing = (left_yes & right_no) | (left_no & right_yes)
        here = self.count[left].any(axis=0)
        both = here & self.count[right].any(axis=0)
        # Long ones first: they cannot be coincidence.
        same = np.flatnonzero(both)[np.argsort(self.short[both], kind="stable")]
        close = np.flatnonzero(~both & here & self.near[right].any(axis=0))
        pairs = [self._pair_of(key, key, left, right) for key in same[:_SHOWN]]
        pairs += [self._pair_of(key, self._near_in(key, right), left, right) for key in close[:_SHOWN]]
        return Overlap(
            self.count_duplicates(names[0], left, right),
            self.count_duplicates(names[1], right, left),
            int((both & disagreeing).sum()),
            tuple(pairs),
        )

    def repeats(self, at: int) -> Repeats:
        """Return the texts that one part has more than once."""
        rows, part = self.count[at], self.parts[at]
        conflicting = (self.sarcastic[at] > 0) & (self.plain[at] > 0)
        shown = np.flatnonzero(conflicting)[np.argsort(self.short[conflicting], kind="stable")][:_SHOWN]
        pairs = [self._conflict(key, at) for key in shown]
        return Repeats(
            part.name,
            int(rows.sum()),
            int((rows[rows > 0] - 1).sum()),
            int(rows[self.near[at] > 0].sum()),
            int(conflicting.sum()),
            int(rows[conflicting].sum()),
            int((conflicting & self.short).sum()),
            tuple(pairs),
        )

    def expected_leak(self, corpus: str, test: float) -> float:
        """Return the expected number of test rows with a duplicate in train after a random split by row."""
        at = self.columns(corpus)
        rows = self.count[at].sum(axis=0)
        others = np.maximum(rows - 1, 0) + self.near[at].sum(axis=0)
        return float((rows * test * (1 - test ** others.astype(np.float64))).sum())

    def texts_once(self, corpus: str) -> list[Example]:
        """Return each text of a corpus once, or twice if it has both labels."""
        seen: set[tuple[int, bool | None]] = set()
        once = []
        for row in np.flatnonzero(np.isin(self.part, self.columns(corpus))):
            mark = (int(self.key[row]), self.rows[row].label)
            if mark not in seen:
                seen.add(mark)
                once.append(self.rows[row])
        return once

    def _near_in(self, key: int, parts: Columns) -> int:
        return int(max(self.partner[parts, key]))

    def _rows_of(self, key: int, parts: Iterable[int]) -> list[Example]:
        rows = self._by_key[self._first[key] : self._first[key + 1]]
        return [self.rows[row] for row in rows if self.part[row] in parts]

    def _pair_of(self, key: int, other: int, left: Columns, right: Columns) -> DuplicatePair:
        return _pair(self._rows_of(key, left)[0], self._rows_of(other, right)[0], same=key == other)

    def _conflict(self, key: int, at: int) -> DuplicatePair:
        """Return a sarcastic and a sincere row of the same text."""
        rows = self._rows_of(key, [at])
        yes = next(row for row in rows if row.label)
        return _pair(yes, next(row for row in rows if row.label is False), same=True)


def _sign(label: bool | None) -> int:
    return 0 if label is None else 1 if label else -1


def _pair(left: Example, right: Example, *, same: bool) -> DuplicatePair:
    similar = "identical" if same else "near"
    return DuplicatePair(left.id, right.id, clip_line(left.response.text), clip_line(right.response.text), similar)


def clip_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CLIP else line[: _CLIP - 1] + "…"


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Values of one kind (speaker, group, sequence, context) that two parts share, and the rows with them."""

    kind: str
    left: str
    right: str
    values: int
    left_rows: int
    right_rows: int
    left_share: float
    right_share: float
    shown: tuple[str, ...]


def context_identity(example: Example) -> str:
    """Return the folded context of a response; empty where it is missing or too short to be distinctive."""
    key = " ".join(identity(turn.text) for turn in example.context)
    return "" if word_count(key) < SHORT_WORDS else key


_VALUE_KINDS: Mapping[str, Callable[[Example], str]] = {
    "speaker": lambda example: real_name(example.response.speaker),
    "group": lambda example: example.group,
    "sequence": lambda example: example.sequence,
    "context": context_identity,
}


def shared_values(parts: Iterable[CorpusPart], kinds: Iterable[str] = tuple(_VALUE_KINDS)) -> Iterator[SharedValues]:
    """Yield the values of these kinds that any two of the parts share."""
    parts = list(parts)
    if len(parts) < 2:
        return
    for kind in kinds:
        values = [(part, _rows(part.examples, _VALUE_KINDS[kind])) for part in parts]
        for (left, left_rows), (right, right_rows) in combinations(values, 2):
            shared = [value for value in left_rows if value in right_rows]
            if shared:
                here = sum(left_rows[value] for value in shared)
                there = sum(right_rows[value] for value in shared)
                yield SharedValues(
                    kind,
                    left.name,
                    right.name,
                    len(shared),
                    here,
                    there,
                    here / len(left.examples),
                    there / len(right.examples),
                    tuple(clip_line(value) for value in shared[:_SHOWN]),
                )


def _rows(examples: Iterable[Example], value_of: Callable[[Example], str]) -> dict[str, int]:
    """Count rows by value, without those that have none."""
    rows: dict[str, int] = {}
    for example in examples:
        value = value_of(example)
        if value:
            rows[value] = rows.get(value, 0) + 1
    return rows
