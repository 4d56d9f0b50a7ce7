"""Values that splits share besides texts: speakers, groups, sequences and contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from deadpan.datasets.leaks.duplicates import SHOWN, CorpusPart, clip
from deadpan.datasets.leaks.tokens import real_name
from deadpan.duplicates import SHORT_WORDS, identity, word_count
from deadpan.records import Example


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


KINDS: Mapping[str, Callable[[Example], str]] = {
    "speaker": lambda example: real_name(example.response.speaker),
    "group": lambda example: example.group,
    "sequence": lambda example: example.sequence,
    "context": context_identity,
}


def shared_values(parts: Iterable[CorpusPart], kinds: Iterable[str] = tuple(KINDS)) -> Iterator[SharedValues]:
    """Yield the values of these kinds that any two of the parts share."""
    parts = list(parts)
    if len(parts) < 2:
        return
    for kind in kinds:
        values = [(part, _rows(part.examples, KINDS[kind])) for part in parts]
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
                    tuple(clip(value) for value in shared[:SHOWN]),
                )


def _rows(examples: Iterable[Example], value_of: Callable[[Example], str]) -> dict[str, int]:
    """Count rows by value, without those that have none."""
    rows: dict[str, int] = {}
    for example in examples:
        value = value_of(example)
        if value:
            rows[value] = rows.get(value, 0) + 1
    return rows
