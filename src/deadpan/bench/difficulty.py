"""Which items separate models, and which are dead: the same for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.bench.comparison import check_same
from deadpan.bench.folder import RunFolder
from deadpan.bench.scores import answered, kind_of
from deadpan.errors import DataError

FEWEST_MODELS = 3
"""With fewer, how well an item separates models cannot be told."""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """An item across models. `discrimination` correlates it with the rest; None where undefined."""

    item: str
    category: str
    easiness: float
    discrimination: float | None
    state: str
    tempting: str
    """The wrong letter models take most; empty where none does."""


def item_facts(runs: Sequence[RunFolder]) -> list[ItemFacts]:
    """Every item across the models; baselines and people do not count as models."""
    check_same(runs)
    models = [run for run in runs if kind_of(run.plan.model) == "model"]
    if not models:
        raise DataError("no model among the runs: baselines and people do not tell how hard an item is")
    asked = [{each.item: each for each in answered(run.rows)} for run in models]
    shared = [item for item in asked[0] if all(item in each for each in asked)]
    right = np.array([[each[item].right for item in shared] for each in asked])
    totals = right.sum(axis=1)
    found = []
    for at, item in enumerate(shared):
        column, first = right[:, at], asked[0][item]
        apart = _correlation(column, totals - column)
        wrong = [
            letter
            for each in asked
            for letter in each[item].predictions
            if letter and letter != each[item].answer
        ]
        tempting = max(sorted(set(wrong)), key=wrong.count) if wrong else ""
        found.append(
            ItemFacts(
                item,
                first.category,
                float(column.mean()),
                apart,
                _state(column, apart),
                tempting,
            )
        )
    return found


def _state(column: np.ndarray[tuple[int], np.dtype[np.float64]], apart: float | None) -> str:
    """In a word; what stronger models get wrong more often may have a wrong key."""
    if (column == 1).all():
        return "dead: all right"
    if (column == 0).all():
        return "dead: all wrong"
    return "backwards" if apart is not None and apart < 0 else "separates"


def _correlation(
    column: np.ndarray[tuple[int], np.dtype[np.float64]], rest: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    """Item against the rest of the set, across models."""
    if len(column) < FEWEST_MODELS or column.std() == 0 or rest.std() == 0:
        return None
    return float(np.corrcoef(column, rest)[0, 1])
