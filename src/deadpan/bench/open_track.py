"""The open track: a model says in one sentence what the speaker means; three ways of marking it are compared.

The three are the nearest of the six options in sense (embedded vectors), a judge model with a published
rubric, and people. None of them is the truth; how far they agree is part of the result.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from deadpan.agreement import cohen_kappa, ratings_from_matrix, raw_agreement
from deadpan.bench.items import family
from deadpan.bench.judge import PASS
from deadpan.bench.scores import mean_interval
from deadpan.bench.sets import ItemSet
from deadpan.bench.similarity import embedded
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.stats import Interval
from deadpan.vectors import cosine

Key = tuple[str, int]
SIMILARITY, JUDGE, PEOPLE = "similarity", "judge", "people"
YES, NO = frozenset({"1", "yes", "right", "true", "2"}), frozenset({"0", "no", "wrong", "false"})


@dataclass(frozen=True, slots=True)
class Explanation:
    """One sentence of a model and its marks; None where that marker gave none."""

    item: str
    run: int
    text: str
    cosine: float
    nearest: int
    similarity: bool | None
    judge: int | None = None
    people: bool | None = None


@dataclass(frozen=True, slots=True)
class OpenScores:
    """Share right by each marker, and how far the markers agree."""

    model: str
    set: str
    n: int
    right: dict[str, Interval]
    agreement: dict[str, dict[str, Interval]]
    missing: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        plain: dict[str, Any] = encode(self)
        return plain


def mark_similarity(items: ItemSet, texts: Mapping[Key, str]) -> list[Explanation]:
    """Right where the item's answer is the option nearest to the sentence; an empty sentence is wrong."""
    vectors, known = embedded(), {item.id: item for item in items.items}
    found = []
    for (name, run), text in texts.items():
        item = known[name]
        near = cosine(vectors.sentences([text]), vectors.sentences(list(item.options)))[0]
        place = int(near.argmax())
        right = place == item.answer if text.strip() else False
        found.append(Explanation(name, run, text, float(near[item.answer]), place, right))
    return found


def read_people(path: Path) -> dict[Key, bool]:
    """People's marks: a CSV with item, run (1 if absent) and right (yes/no or 1/0); the majority counts."""
    votes: dict[Key, list[bool]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                said = (row.get("right") or "").strip().lower()
                if "item" not in row or said not in YES | NO:
                    raise DataError(f"{path}:{number}: needs item and right (yes or no)")
                votes.setdefault((row["item"], int(row.get("run") or 1)), []).append(said in YES)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give a CSV with item, run and right") from None
    except (OSError, ValueError, csv.Error) as bad:
        raise DataError(f"{path}: not a CSV with item, run and right ({bad})") from None
    return {key: 2 * sum(each) > len(each) for key, each in votes.items() if 2 * sum(each) != len(each)}


def score_open(model: str, items: ItemSet, marked: Sequence[Explanation], seed: int = 0) -> OpenScores:
    """Each marker's share of right sentences, families whole, and every two markers' agreement."""
    groups = {item.id: family(item) for item in items.items}
    verdicts: dict[str, list[bool | None]] = {
        SIMILARITY: [each.similarity for each in marked],
        JUDGE: [None if each.judge is None else each.judge >= PASS for each in marked],
        PEOPLE: [each.people for each in marked],
    }
    used = {name: given for name, given in verdicts.items() if any(each is not None for each in given)}
    right = {}
    for name, given in used.items():
        known = [(each, groups[e.item]) for each, e in zip(given, marked, strict=True) if each is not None]
        right[name] = mean_interval([float(each) for each, _ in known], [group for _, group in known], seed)
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
    missing = {name: sum(each is None for each in given) for name, given in used.items()}
    return OpenScores(model, items.label, len(marked), right, agreement, missing)
