"""Labels aggregated from several answers: majority vote, or the model of Dawid and Skene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_whole
from deadpan.errors import ConfigError, DataError
from deadpan.ratings.ratings import MISSING, Ratings, as_ratings
from deadpan.records import Label
from deadpan.results import Result
from deadpan.stats.interval import LEVEL, FloatArray, IntArray, Interval, check_level, undefined, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deadpan.page.summary import Summary

TIE = 1e-9
"""Shares closer than this are tied: a difference this small is a rounding error."""

SMOOTHING = 0.01
"""Added to every count of Dawid and Skene's model: an answer that was never seen is still possible."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """The reliability of an annotator by Dawid and Skene's model.

    `accuracy` is the mean posterior probability of their own answers; `confusion[truth][answer]` the
    probability of an answer given the true label.
    """

    name: str
    n: int
    accuracy: float
    confusion: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, repr=False)
class DawidSkene(Result):
    """Labels with their posterior distribution, the annotators, and True in `converged` if EM did."""

    labels: list[Label]
    annotators: list[Annotator]
    prevalence: Mapping[str, float]
    iterations: int
    converged: bool

    def __repr__(self) -> str:
        return f"DawidSkene({len(self.labels):,} labels, {len(self.annotators):,} annotators)"

    def as_dict(self) -> dict[str, object]:
        """Return prevalence and annotators, for `--json`."""
        return {
            "labels": len(self.labels),
            "prevalence": dict(self.prevalence),
            "annotators": {a.name: {"n": a.n, "accuracy": a.accuracy} for a in self.annotators},
            "iterations": self.iterations,
            "converged": self.converged,
        }

    def summary(self) -> Summary:
        """Return the annotators and how often their answers are probably right."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((a.name, a.accuracy, a.n) for a in self.annotators)
        state = "converged" if self.converged else "did not converge"
        note = f"{len(self.labels):,} labels; EM {state} after {self.iterations:,} iterations"
        return Summary((Table(("annotator", "estimated accuracy", "n"), rows),), (note,))


@dataclass(frozen=True, slots=True)
class Match:
    """The share of an annotator's answers that agree with the majority of the others.

    Items on which the others tie, or that nobody else answered, are counted in `n_unmatched`.
    """

    annotator: str
    share: Interval
    n_unmatched: int


def majority(ratings: Ratings) -> list[Label]:
    """Return the most frequent answer to each item. A tie has the value None, and `method` says so."""
    ratings = as_ratings(ratings)
    counts = ratings.counts
    return [
        label_by_shares(ratings, at, counts[at] / max(counts[at].sum(), 1), int(counts[at].sum()), "majority")
        for at in range(len(ratings.items))
    ]


def label_by_shares(ratings: Ratings, item: int, shares: FloatArray, n: int, method: str) -> Label:
    """Return the label of an item by its shares (votes or posterior); None for a tie or no answer."""
    if n == 0:
        return Label(ratings.items[item], ratings.question, None, {}, 0, f"{method}: no answer")
    best = np.flatnonzero(shares >= shares.max() - TIE)
    tied = len(best) > 1
    return Label(
        item_id=ratings.items[item],
        question=ratings.question,
        value=None if tied else ratings.categories[best[0]],
        distribution={
            category: float(part)
            for category, part in zip(ratings.categories, shares, strict=True)
            if part > 0 or method != "majority"
        },
        n=n,
        method=f"{method}: tie" if tied else method,
    )


def match_majority(ratings: Ratings, level: float = LEVEL) -> list[Match]:
    """Compare each annotator with the majority of the others, with Wilson's interval.

    Their own answer does not count towards the majority: with few raters it would match itself. KoCoSa
    qualifies annotators at 65 % on 20 items.
    """
    ratings = as_ratings(ratings)
    check_level(level)
    size = len(ratings.categories)
    counts = ratings.counts
    matches = []
    for rater, name in enumerate(ratings.raters):
        rows = np.flatnonzero(ratings.codes[:, rater] != MISSING)
        own = ratings.codes[rows, rater]
        others = counts[rows] - np.eye(size)[own]
        top = others.max(axis=1, initial=0)
        clear = (top > 0) & ((others == top[:, None]).sum(axis=1) == 1)
        agreed = clear & (others[np.arange(len(rows)), own] == top)
        n = int(clear.sum())
        share = wilson(int(agreed.sum()), n, level) if n else undefined(_NO_MATCH, 0, level)
        matches.append(Match(name, share, len(rows) - n))
    return matches


_NO_MATCH = "no item on which the others have a majority"


def dawid_skene(ratings: Ratings, max_iterations: int = 1000, tolerance: float = 1e-5) -> DawidSkene:
    """Fit Dawid and Skene's (1979) model by expectation maximisation, starting from the vote shares.

    Every annotator has a table of answer probabilities given the true label; labels and tables are
    estimated in turn until no posterior changes by more than `tolerance`. The result is deterministic.
    """
    ratings = as_ratings(ratings)
    check_whole(max_iterations, "max_iterations", 1)
    if not isinstance(tolerance, int | float) or not tolerance > 0:
        raise ConfigError(f"tolerance must be above 0: got {tolerance!r}")
    counts = ratings.counts
    if not counts.sum():
        raise DataError("Dawid-Skene needs at least one answer: got none")
    # One entry per answer given: a table of all items by all raters is almost empty in a large study.
    item, rater = np.nonzero(ratings.codes != MISSING)
    given = (item, rater, ratings.codes[item, rater])
    answered = counts.sum(axis=1) > 0
    posterior = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    converged = False
    iterations = 0
    while not converged and iterations < max_iterations:
        prevalence, tables = _maximise(posterior, answered, given, len(ratings.raters))
        updated = np.where(answered[:, None], _expect(prevalence, tables, given, len(posterior)), posterior)
        converged = bool(np.abs(updated - posterior).max() < tolerance)
        posterior = updated
        iterations += 1
    return DawidSkene(
        labels=[
            label_by_shares(ratings, at, posterior[at], int(counts[at].sum()), "dawid-skene")
            for at in range(len(ratings.items))
        ],
        annotators=_annotators(ratings, posterior, tables),
        prevalence=dict(zip(ratings.categories, prevalence.tolist(), strict=True)),
        iterations=iterations,
        converged=converged,
    )


_Given = tuple[IntArray, IntArray, IntArray]
"""The item, the rater and the answer of each answer given."""


def _maximise(
    posterior: FloatArray, answered: NDArray[np.bool_], given: _Given, raters: int
) -> tuple[FloatArray, FloatArray]:
    """Return the prevalence of each label and each annotator's table (raters x truth x answer)."""
    prevalence = posterior[answered].sum(axis=0) + SMOOTHING
    item, rater, answer = given
    size = posterior.shape[1]
    place = rater * size + answer
    by_truth = [
        np.bincount(place, weights=posterior[item, truth], minlength=raters * size).reshape(raters, size)
        for truth in range(size)
    ]
    tables = np.stack(by_truth, axis=1) + SMOOTHING
    return prevalence / prevalence.sum(), tables / tables.sum(axis=2, keepdims=True)


def _expect(prevalence: FloatArray, tables: FloatArray, given: _Given, items: int) -> FloatArray:
    """Return the posterior of each item; in logarithms, since a product over many raters underflows."""
    item, rater, answer = given
    logs = np.log(tables)
    likelihood = np.log(prevalence) + np.stack(
        [np.bincount(item, weights=logs[rater, truth, answer], minlength=items) for truth in range(len(prevalence))],
        axis=1,
    )
    likelihood -= likelihood.max(axis=1, keepdims=True)
    weights = np.exp(likelihood)
    posterior: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return posterior


def _annotators(ratings: Ratings, posterior: FloatArray, tables: FloatArray) -> list[Annotator]:
    annotators = []
    for rater, name in enumerate(ratings.raters):
        rows = np.flatnonzero(ratings.codes[:, rater] != MISSING)
        if not rows.size:
            continue
        right = posterior[rows, ratings.codes[rows, rater]]
        confusion = {
            truth: dict(zip(ratings.categories, tables[rater, at].tolist(), strict=True))
            for at, truth in enumerate(ratings.categories)
        }
        annotators.append(Annotator(name, len(rows), float(right.mean()), confusion))
    return annotators
