"""The leak report: duplicates, shared values, label tokens and surface cues of one or more corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from deadpan.arguments import check_examples, check_mapping, check_whole
from deadpan.datasets.leaks.cues import Cue, surface_cues
from deadpan.datasets.leaks.duplicates import (
    CorpusPart,
    DuplicateCount,
    DuplicatePair,
    Overlap,
    Repeats,
    TextIndex,
)
from deadpan.datasets.leaks.shared import SharedValues, shared_values
from deadpan.datasets.leaks.tokens import MIN_COUNT, LabelTokens, label_tokens
from deadpan.near_pairs import NEAR, check_threshold
from deadpan.records import Example
from deadpan.results import Result
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table

SHOWN = 12
"""Tokens and pairs shown per table."""

SPLITS = ("train", "dev", "test", "")
TEST = 0.2
"""Test share of the random split that is assumed for a corpus without splits."""


@dataclass(frozen=True, slots=True)
class RandomSplit:
    """Expected leak of a random split by row: test rows, and those of them with a duplicate in train."""

    test_rows: float
    leaked: float


@dataclass(frozen=True, slots=True)
class CorpusLeaks:
    """The leaks of one corpus, and how much of it is also in the other corpora of the report.

    `random_split` is given where the corpus has no splits.
    """

    name: str
    n: int
    splits: Mapping[str, int]
    repeats: tuple[Repeats, ...]
    overlaps: tuple[Overlap, ...]
    shared_values: tuple[SharedValues, ...]
    label_tokens: LabelTokens
    cues: tuple[Cue, ...]
    elsewhere: DuplicateCount | None
    random_split: RandomSplit | None

    def tables(self) -> list[Table]:
        """Return the evidence: tokens that nearly decide the label, and pairs of duplicates."""
        from deadpan.page.table import Table

        tokens = tuple(
            (t.token, "sarcastic" if t.sarcastic else "sincere", f"{t.share:.0%}", t.n, f"{t.coverage:.1%}")
            for t in self.label_tokens.tokens[:SHOWN]
        )
        columns = ("token", "label", "of its texts", "texts", "of the corpus")
        tables = (
            [Table(columns, tokens, f"{self.name}: tokens that nearly decide the label")] if tokens else []
        )
        across = [pair for overlap in self.overlaps for pair in overlap.pairs]
        within = [pair for repeats in self.repeats for pair in repeats.pairs]
        return [
            *tables,
            *_pair_table(f"{self.name}: duplicates across splits", across),
            *_pair_table(f"{self.name}: the same text with both labels", within),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class LeakReport(Result):
    """All leaks, and `findings`: a sentence on each that matters, the most severe first."""

    threshold: float
    corpora: tuple[CorpusLeaks, ...]
    overlaps: tuple[Overlap, ...]
    shared_values: tuple[SharedValues, ...]
    findings: tuple[str, ...]

    def __repr__(self) -> str:
        names = ", ".join(corpus.name for corpus in self.corpora)
        return f"<LeakReport {names}: {len(self.findings)} findings>"

    def as_dict(self) -> dict[str, object]:
        """Return all counts and findings."""
        plain: dict[str, object] = encode(self)
        return plain

    def summary(self) -> Summary:
        """Return the findings, then the evidence per corpus."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        numbered = tuple(enumerate(self.findings, 1))
        tables = [Table(("", "finding"), numbered)]
        for corpus in self.corpora:
            tables += corpus.tables()
        between = [pair for overlap in self.overlaps for pair in overlap.pairs]
        return Summary((*tables, *_pair_table("the same text in two corpora", between)))


def find_leaks(
    corpora: Mapping[str, Iterable[Example]], *, threshold: float = NEAR, min_count: int = MIN_COUNT
) -> LeakReport:
    """Find leaks within each corpus, across its splits, and across the corpora.

    `corpora` maps a name to examples. Texts more similar than `threshold` (0 to 1) are near duplicates; a
    token must occur `min_count` times to be reported as one that gives the label away.

    >>> from deadpan import find_leaks, read_dataset
    >>> report = find_leaks({"starter": read_dataset("starter-en").examples})
    """
    from deadpan.datasets.leaks.findings import findings  # it imports the records above

    check_mapping(corpora, "corpora", "pass {name: examples}")
    check_threshold(threshold)
    check_whole(min_count, "min_count", 1)
    corpora = {name: check_examples(examples) for name, examples in corpora.items()}
    parts = [part for name, examples in corpora.items() for part in split_parts(name, examples)]
    index = TextIndex(parts, threshold)
    leaks = tuple(_corpus(index, name, list(corpora), min_count) for name in corpora)
    pairs = list(combinations(corpora, 2))
    overlaps = [index.overlap(pair, *map(index.columns, pair)) for pair in pairs]
    wholes = [
        CorpusPart(name, "", [row for at in index.columns(name) for row in parts[at].examples])
        for name in corpora
    ]
    between = tuple(_shared(overlaps))
    # Ids and speakers mean nothing across corpora; contexts do.
    contexts = tuple(shared_values(wholes, ("context",)))
    return LeakReport(threshold, leaks, between, contexts, tuple(findings(leaks, between, contexts)))


def split_parts(name: str, examples: Iterable[Example]) -> list[CorpusPart]:
    """Return the parts of a corpus, one per split."""
    rows: dict[str, list[Example]] = {}
    for example in examples:
        rows.setdefault(example.split, []).append(example)
    order = [split for split in SPLITS if split in rows] or [""]
    return [CorpusPart(name, split, rows.get(split, [])) for split in order]


def _corpus(index: TextIndex, name: str, names: list[str], min_count: int) -> CorpusLeaks:
    at = index.columns(name)
    parts = [index.parts[column] for column in at]
    n = sum(len(part.examples) for part in parts)
    overlaps = [
        index.overlap((index.parts[left].name, index.parts[right].name), [left], [right])
        for left, right in combinations(at, 2)
    ]
    others = [column for column in range(len(index.parts)) if column not in at]
    once = index.texts_once(name)
    return CorpusLeaks(
        name=name,
        n=n,
        splits={part.split: len(part.examples) for part in parts},
        repeats=tuple(index.repeats(column) for column in at),
        overlaps=tuple(_shared(overlaps)),
        shared_values=tuple(shared_values(parts)),
        label_tokens=label_tokens(once, min_count=min_count),
        cues=surface_cues(once),
        elsewhere=index.count_duplicates(name, at, others) if len(names) > 1 else None,
        random_split=None if len(at) > 1 else RandomSplit(n * TEST, index.expected_leak(name, TEST)),
    )


def _shared(overlaps: Iterable[Overlap]) -> list[Overlap]:
    return [overlap for overlap in overlaps if overlap.left.identical or overlap.left.near]


def _pair_table(title: str, pairs: Iterable[DuplicatePair]) -> list[Table]:
    """Return pairs of duplicates as a table, or nothing where there are none."""
    from deadpan.page.table import Table

    rows = []
    for pair in list(pairs)[:SHOWN]:
        texts = dict.fromkeys((pair.left_text, pair.right_text))
        rows.append((f"{pair.left} = {pair.right}", pair.similar, " / ".join(texts)))
    return [Table(("rows", "similar", "text"), tuple(rows), title)] if rows else []
