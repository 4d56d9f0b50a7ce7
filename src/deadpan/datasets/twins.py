"""Which texts stand where: twins within a part of a corpus, across its splits, across corpora."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadpan.duplicates import (
    BRIEF_NEAR,
    BRIEF_WORDS,
    NEAR,
    SHORT_WORDS,
    distinct,
    near_pairs,
    word_count,
)
from deadpan.records import Example

SHOWN = 5
"""Instances shown of each kind of find."""

CLIP = 120

BoolArray = NDArray[np.bool_]
Columns = Sequence[int]


@dataclass(frozen=True, slots=True)
class Part:
    """One split of a corpus, or a corpus that has none."""

    corpus: str
    split: str
    examples: Sequence[Example]

    @property
    def name(self) -> str:
        return f"{self.corpus}/{self.split}" if self.split else self.corpus


@dataclass(frozen=True, slots=True)
class Twin:
    """Two rows that are one text, `similar` being "identical" or "near"."""

    left: str
    right: str
    left_text: str
    right_text: str
    similar: str


@dataclass(frozen=True, slots=True)
class Side:
    """The rows of one part that have a twin in the other.

    `identical` are the same once case, punctuation, links and users are out; `short` are those of them too
    short for that to mean much; `near` have only a near-identical twin. `share` is identical and near of n.
    """

    name: str
    n: int
    identical: int
    short: int
    near: int
    share: float

    @property
    def leaked(self) -> int:
        """Rows whose twin is no accident."""
        return self.identical - self.short + self.near


@dataclass(frozen=True, slots=True)
class Crossing:
    """Texts two parts have in common, seen from either; `disagreeing` are those labelled differently."""

    left: Side
    right: Side
    disagreeing: int
    twins: tuple[Twin, ...]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Texts that come more than once in one part; `conflicts` are those that carry both labels."""

    name: str
    n: int
    repeated: int
    near: int
    conflicts: int
    conflicting_rows: int
    short_conflicts: int
    twins: tuple[Twin, ...]


class Catalogue:
    """Every distinct text of some parts, and how many rows of each part have it or nearly have it."""

    def __init__(self, parts: Sequence[Part], threshold: float = NEAR) -> None:
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
        self._find_near(keys, np.where(words < BRIEF_WORDS, max(threshold, BRIEF_NEAR), threshold))
        self._by_key = np.argsort(self.key, kind="stable")
        self._first = np.searchsorted(self.key[self._by_key], np.arange(len(keys) + 1))

    def _table(self, shape: tuple[int, int], chosen: BoolArray) -> NDArray[np.int32]:
        """Rows by part and text."""
        table = np.zeros(shape, dtype=np.int32)
        np.add.at(table, (self.part[chosen], self.key[chosen]), 1)
        return table

    def _find_near(self, keys: list[str], needed: NDArray[np.float64]) -> None:
        """Note near twins; `needed` is the similarity each text asks of one."""
        long = np.flatnonzero(~self.short)
        for pairs in near_pairs([keys[at] for at in long], float(needed.min(initial=1.0))):
            left, right = long[pairs.left], long[pairs.right]
            enough = pairs.similarity >= np.maximum(needed[left], needed[right]) - 1e-9
            left, right = left[enough], right[enough]
            for one, other in ((left, right), (right, left)):
                for part in range(len(self.parts)):
                    there = self.count[part, other] > 0
                    np.add.at(self.near[part], one[there], self.count[part, other[there]])
                    self.partner[part, one[there]] = other[there]

    def columns(self, corpus: str) -> list[int]:
        """The parts of a corpus."""
        return [at for at, part in enumerate(self.parts) if part.corpus == corpus]

    def side(self, name: str, here: Columns, there: Columns) -> Side:
        """The rows of some parts that have a twin in some others."""
        rows = self.count[here].sum(axis=0)
        same = self.count[there].any(axis=0)
        near = self.near[there].any(axis=0) & ~same
        n, identical, close = int(rows.sum()), int(rows[same].sum()), int(rows[near].sum())
        short = int(rows[same & self.short].sum())
        return Side(name, n, identical, short, close, (identical + close) / n if n else 0.0)

    def crossing(self, names: tuple[str, str], left: Columns, right: Columns) -> Crossing:
        """What two groups of parts share."""
        labels = [(self.sarcastic[at].any(axis=0), self.plain[at].any(axis=0)) for at in (left, right)]
        (left_yes, left_no), (right_yes, right_no) = labels
        disagreeing = (left_yes & right_no) | (left_no & right_yes)
        here = self.count[left].any(axis=0)
        both = here & self.count[right].any(axis=0)
        # Long ones first: they are the finds nobody can explain away.
        same = np.flatnonzero(both)[np.argsort(self.short[both], kind="stable")]
        close = np.flatnonzero(~both & here & self.near[right].any(axis=0))
        twins = [self._twin(key, key, left, right) for key in same[:SHOWN]]
        twins += [self._twin(key, self._near_in(key, right), left, right) for key in close[:SHOWN]]
        return Crossing(
            self.side(names[0], left, right),
            self.side(names[1], right, left),
            int((both & disagreeing).sum()),
            tuple(twins),
        )

    def repeats(self, at: int) -> Repeats:
        """What one part has more than once."""
        rows, part = self.count[at], self.parts[at]
        torn = (self.sarcastic[at] > 0) & (self.plain[at] > 0)
        shown = np.flatnonzero(torn)[np.argsort(self.short[torn], kind="stable")][:SHOWN]
        twins = [self._torn(key, at) for key in shown]
        return Repeats(
            part.name,
            int(rows.sum()),
            int((rows[rows > 0] - 1).sum()),
            int(rows[self.near[at] > 0].sum()),
            int(torn.sum()),
            int(rows[torn].sum()),
            int((torn & self.short).sum()),
            tuple(twins),
        )

    def expected_leak(self, corpus: str, test: float) -> float:
        """Test rows with a twin in train, on average, if the corpus were split at random row by row."""
        at = self.columns(corpus)
        rows = self.count[at].sum(axis=0)
        others = np.maximum(rows - 1, 0) + self.near[at].sum(axis=0)
        return float((rows * test * (1 - test ** others.astype(np.float64))).sum())

    def texts_once(self, corpus: str) -> list[Example]:
        """Each text of a corpus once, or twice if it carries both labels."""
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

    def _twin(self, key: int, other: int, left: Columns, right: Columns) -> Twin:
        return _pair(self._rows_of(key, left)[0], self._rows_of(other, right)[0], same=key == other)

    def _torn(self, key: int, at: int) -> Twin:
        """A row that says sarcastic and one of the same text that says not."""
        rows = self._rows_of(key, [at])
        yes = next(row for row in rows if row.label)
        return _pair(yes, next(row for row in rows if row.label is False), same=True)


def _sign(label: bool | None) -> int:
    return 0 if label is None else 1 if label else -1


def _pair(left: Example, right: Example, *, same: bool) -> Twin:
    likeness = "identical" if same else "near"
    return Twin(left.id, right.id, clip(left.response.text), clip(right.response.text), likeness)


def clip(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= CLIP else line[: CLIP - 1] + "…"
