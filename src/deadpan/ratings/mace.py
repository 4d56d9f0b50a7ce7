"""Labels by MACE (Hovy et al. 2013): each annotator either knows the label or answers by habit.

With three answers per item from many annotators, Dawid and Skene's table per annotator has too many cells to
estimate; a competence and a habit per annotator are fewer. On simulated sparse votes it is more often right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_whole
from deadpan.errors import DataError
from deadpan.ratings.consensus import label_by_shares
from deadpan.ratings.ratings import MISSING, Ratings, as_ratings
from deadpan.records import Label
from deadpan.results import Result
from deadpan.stats.interval import FloatArray

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

START = 0.7
"""Competence of every annotator before the first step."""

PRIOR = 0.5
"""Added to the counts of knowing and of answering by habit."""

HABIT = 10.0
"""Added to an annotator's habitual answers, divided by the number of items."""


@dataclass(frozen=True, slots=True, repr=False)
class Mace(Result):
    """Labels with their posterior distribution, and the competence of each annotator."""

    labels: list[Label]
    competence: dict[str, float]
    iterations: int

    def __repr__(self) -> str:
        return f"Mace({len(self.labels):,} labels, {len(self.competence):,} annotators)"

    def as_dict(self) -> dict[str, object]:
        """Return the competence of each annotator, for `--json`."""
        return {"labels": len(self.labels), "competence": self.competence, "iterations": self.iterations}

    def summary(self) -> Summary:
        """Return the annotators by competence."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(sorted(self.competence.items(), key=lambda pair: -pair[1]))
        return Summary((Table(("annotator", "competence"), rows),), (f"{len(self.labels):,} labels",))


def mace(ratings: Ratings, iterations: int = 60) -> Mace:
    """Fit MACE by expectation maximisation; the result is deterministic."""
    ratings = as_ratings(ratings)
    check_whole(iterations, "iterations", 1)
    counts = ratings.counts
    if not counts.sum():
        raise DataError("MACE needs at least one answer: got none")
    n, raters = ratings.codes.shape
    size = len(ratings.categories)
    has = ratings.codes != MISSING
    given = np.stack([ratings.codes == one for one in range(size)], axis=2).astype(np.float64)
    competence = np.full(raters, START)
    habit = np.full((raters, size), 1 / size)
    prevalence = np.full(size, 1 / size)
    for _ in range(iterations):
        by_habit = np.einsum("rk,irk->ir", habit, given)
        chance = np.where(has[:, :, None], competence[:, None] * given + ((1 - competence) * by_habit)[:, :, None], 1.0)
        posterior = _posterior(prevalence, chance)
        knew = np.where(has[:, :, None], competence[:, None] * given / np.maximum(chance, 1e-12), 0.0)
        known = np.einsum("it,irt->ir", posterior, knew)
        guessed = np.where(has, 1 - known, 0.0)
        competence = (known.sum(axis=0) + PRIOR) / (known.sum(axis=0) + guessed.sum(axis=0) + 2 * PRIOR)
        habit = np.einsum("ir,irk->rk", guessed, given) + HABIT / n
        habit /= habit.sum(axis=1, keepdims=True)
        prevalence = posterior.sum(axis=0) + PRIOR
        prevalence /= prevalence.sum()
    labels = [label_by_shares(ratings, at, posterior[at], int(counts[at].sum()), "mace") for at in range(n)]
    return Mace(labels, dict(zip(ratings.raters, competence.tolist(), strict=True)), iterations)


def _posterior(prevalence: FloatArray, chance: FloatArray) -> FloatArray:
    logs = np.log(prevalence) + np.log(np.maximum(chance, 1e-12)).sum(axis=1)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    posterior: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return posterior
