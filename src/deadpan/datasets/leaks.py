"""The leak report: what in a corpus, or between corpora, makes scores look better than they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from deadpan.datasets.cues import Cue, cues
from deadpan.datasets.sharing import Sharing, sharings
from deadpan.datasets.telling import MIN_COUNT, Telling, telling_tokens
from deadpan.datasets.twins import Catalogue, Crossing, Part, Repeats, Side
from deadpan.duplicates import NEAR
from deadpan.fields import encode
from deadpan.records import Example

SPLITS = ("train", "dev", "test", "")
TEST = 0.2
"""The share a random split would set aside, where a corpus comes without one."""


@dataclass(frozen=True, slots=True)
class RandomSplit:
    """What an ungrouped random split would leak: rows set aside, and how many of them have a twin left."""

    test_rows: float
    leaked: float


@dataclass(frozen=True, slots=True)
class CorpusLeaks:
    """One corpus by itself, and how much of it stands in the other corpora of the report.

    `random_split` is there where the corpus has no splits whose leaks could be counted.
    """

    name: str
    n: int
    splits: Mapping[str, int]
    repeats: tuple[Repeats, ...]
    crossings: tuple[Crossing, ...]
    sharings: tuple[Sharing, ...]
    telling: Telling
    cues: tuple[Cue, ...]
    elsewhere: Side | None
    random_split: RandomSplit | None


@dataclass(frozen=True, slots=True)
class LeakReport:
    """Every leak found, and what it comes to in plain sentences, the gravest first."""

    threshold: float
    corpora: tuple[CorpusLeaks, ...]
    crossings: tuple[Crossing, ...]
    sharings: tuple[Sharing, ...]
    verdict: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For a manifest or --json."""
        plain: dict[str, Any] = encode(self)
        return plain


@dataclass(frozen=True, slots=True)
class Kept:
    """Examples whose text is not in another corpus, and how many were left out because it is."""

    examples: list[Example]
    identical: int
    near: int


def find_leaks(
    corpora: Mapping[str, Iterable[Example]], *, threshold: float = NEAR, min_count: int = MIN_COUNT
) -> LeakReport:
    """Look for leaks within each corpus, across its splits, and across the corpora."""
    from deadpan.datasets.verdict import verdict  # it reads the records above

    parts = [part for name, examples in corpora.items() for part in split_parts(name, examples)]
    catalogue = Catalogue(parts, threshold)
    found = tuple(_corpus(catalogue, name, list(corpora), min_count) for name in corpora)
    pairs = list(combinations(corpora, 2))
    crossings = [catalogue.crossing(pair, *map(catalogue.columns, pair)) for pair in pairs]
    wholes = [
        Part(name, "", [row for at in catalogue.columns(name) for row in parts[at].examples])
        for name in corpora
    ]
    between = tuple(_shared(crossings))
    # Ids and names of people mean nothing across corpora; a conversation does.
    contexts = tuple(sharings(wholes, ("context",)))
    return LeakReport(threshold, found, between, contexts, tuple(verdict(found, between, contexts)))


def split_parts(name: str, examples: Iterable[Example]) -> list[Part]:
    """A corpus by its splits, in the order they are used."""
    rows: dict[str, list[Example]] = {}
    for example in examples:
        rows.setdefault(example.split, []).append(example)
    order = [split for split in SPLITS if split in rows] or [""]
    return [Part(name, split, rows.get(split, [])) for split in order]


def without_duplicates(
    target: Sequence[Example], against: Sequence[Example], *, threshold: float = NEAR
) -> Kept:
    """The examples of `target` whose text is not, or nearly, in `against`: for testing across corpora."""
    catalogue = Catalogue([Part("target", "", target), Part("against", "", against)], threshold)
    same = catalogue.count[1] > 0
    near = (catalogue.near[1] > 0) & ~same
    keys = catalogue.key[: len(target)]
    out = same[keys] | near[keys]
    kept = [example for example, is_out in zip(target, out, strict=True) if not is_out]
    return Kept(kept, int(same[keys].sum()), int(near[keys].sum()))


def _corpus(catalogue: Catalogue, name: str, names: list[str], min_count: int) -> CorpusLeaks:
    at = catalogue.columns(name)
    parts = [catalogue.parts[column] for column in at]
    n = sum(len(part.examples) for part in parts)
    crossings = [
        catalogue.crossing((catalogue.parts[left].name, catalogue.parts[right].name), [left], [right])
        for left, right in combinations(at, 2)
    ]
    others = [column for column in range(len(catalogue.parts)) if column not in at]
    once = catalogue.texts_once(name)
    return CorpusLeaks(
        name=name,
        n=n,
        splits={part.split: len(part.examples) for part in parts},
        repeats=tuple(catalogue.repeats(column) for column in at),
        crossings=tuple(_shared(crossings)),
        sharings=tuple(sharings(parts)),
        telling=telling_tokens(once, min_count=min_count),
        cues=cues(once),
        elsewhere=catalogue.side(name, at, others) if len(names) > 1 else None,
        random_split=None if len(at) > 1 else RandomSplit(n * TEST, catalogue.expected_leak(name, TEST)),
    )


def _shared(crossings: Iterable[Crossing]) -> list[Crossing]:
    return [crossing for crossing in crossings if crossing.left.identical or crossing.left.near]
