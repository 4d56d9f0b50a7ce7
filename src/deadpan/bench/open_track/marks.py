"""Marks of explanations: by similarity, by a judge model and by people.

Similarity takes the option nearest to the explanation (embedded vectors); the judge has a published rubric.
None of the three is the truth, so their agreement is part of the result.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from deadpan.bench.items.item import family
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.items.similarity import option_similarity
from deadpan.bench.open_track.judge import PASS
from deadpan.bench.scores.score import mean_interval
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.ratings import cohen_kappa, ratings_from_matrix, raw_agreement
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.validation import encode

Key = tuple[str, int]
SIMILARITY, JUDGE, PEOPLE = "similarity", "judge", "people"
YES, NO = frozenset({"1", "yes", "right", "true", "2"}), frozenset({"0", "no", "wrong", "false"})


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """One explanation of a model and its marks; None where a marker gave none."""

    item: str
    run: int
    text: str
    cosine: float
    nearest: int
    similarity: bool | None
    judge: int | None = None
    people: bool | None = None


@dataclass(frozen=True, slots=True)
class OpenScores(Result):
    """The share of right explanations by each marker, and the agreement of the markers."""

    model: str
    set: str
    n: int
    right: dict[str, Interval] = field(repr=False)
    agreement: dict[str, dict[str, Interval]] = field(repr=False)
    missing: dict[str, int] = field(repr=False)
    out: Path | None = None
    """The file with every explanation and its marks, if it was written."""

    def as_dict(self) -> dict[str, object]:
        """Return all scores."""
        values: dict[str, object] = encode(replace(self, out=None))
        return {**values, "out": None if self.out is None else str(self.out)}

    def summary(self) -> Summary:
        """Return one row per marker, and the agreement of every two."""
        rows: list[tuple[Cell, ...]] = [
            (name, value, value.n, self.missing[name]) for name, value in self.right.items()
        ]
        tables = [Table(("marked by", "right", "n", "no mark"), tuple(rows), f"{self.model} on {self.set}")]
        pairs: list[tuple[Cell, ...]] = [
            (pair, values["agree"], values["kappa"]) for pair, values in self.agreement.items()
        ]
        if pairs:
            tables.append(Table(("markers", "agreement", "kappa"), tuple(pairs)))
        notes = [] if pairs else ["One marker only: --judge MODEL or --people CSV shows how far to trust it."]
        if self.out is not None:
            notes.append(f"Every explanation with its marks: {self.out}")
        return Summary(tuple(tables), tuple(notes))


def mark_similarity(items: ItemSet, texts: Mapping[Key, str]) -> list[OpenAnswer]:
    """Mark an explanation right if the keyed answer is the most similar option; an empty one is wrong."""
    known = {item.id: item for item in items.items}
    marked = []
    for (name, run), text in texts.items():
        item = known[name]
        near = option_similarity(item, text)
        place = int(near.argmax())
        right = place == item.answer if text.strip() else False
        marked.append(OpenAnswer(name, run, text, float(near[item.answer]), place, right))
    return marked


def read_people(path: Path) -> dict[Key, bool]:
    """Read people's marks from a CSV with item, run (1 if absent) and right (yes or no), by majority."""
    votes: dict[Key, list[bool]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                vote = (row.get("right") or "").strip().lower()
                if "item" not in row or vote not in YES | NO:
                    raise DataError(f"{path}:{number}: a line needs item and right (yes or no): fill them in")
                votes.setdefault((row["item"], int(row.get("run") or 1)), []).append(vote in YES)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: give a CSV with item, run and right") from None
    except (OSError, ValueError, csv.Error) as bad:
        raise DataError(f"{path}: not readable ({bad}): give a CSV with item, run and right") from None
    return {key: 2 * sum(each) > len(each) for key, each in votes.items() if 2 * sum(each) != len(each)}


def score_open(model: str, items: ItemSet, marked: Sequence[OpenAnswer], seed: int = 0) -> OpenScores:
    """Return the share of right explanations per marker, and the agreement of every two markers."""
    groups = {item.id: family(item) for item in items.items}
    verdicts: dict[str, list[bool | None]] = {
        SIMILARITY: [answer.similarity for answer in marked],
        JUDGE: [None if answer.judge is None else answer.judge >= PASS for answer in marked],
        PEOPLE: [answer.people for answer in marked],
    }
    used = {name: marks for name, marks in verdicts.items() if any(mark is not None for mark in marks)}
    right = {}
    for name, marks in used.items():
        known = [(m, groups[a.item]) for m, a in zip(marks, marked, strict=True) if m is not None]
        right[name] = mean_interval([float(mark) for mark, _ in known], [group for _, group in known], seed)
    agreement = {}
    for one, other in combinations(used, 2):
        both = [
            (a, b) for a, b in zip(used[one], used[other], strict=True) if a is not None and b is not None
        ]
        ratings = ratings_from_matrix(both, categories=(True, False))
        agreement[f"{one} and {other}"] = {
            "agree": raw_agreement(ratings, seed=seed),
            "kappa": cohen_kappa(ratings, seed=seed),
        }
    missing = {name: sum(mark is None for mark in marks) for name, marks in used.items()}
    return OpenScores(model, items.label, len(marked), right, agreement, missing)
