"""One label from several answers: the majority, or Dawid and Skene's weighing of each annotator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deadpan.agreement.ratings import MISSING, Ratings
from deadpan.errors import ConfigError, DataError
from deadpan.records import Label
from deadpan.stats.interval import LEVEL, FloatArray, Interval, undefined, wilson

TIE = 1e-9
"""Shares closer than this are a tie: a difference this small is rounding."""

SMOOTHING = 0.01
"""Added to every count of Dawid and Skene's model: an answer never seen is unlikely, not impossible."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """How good an annotator is by Dawid and Skene's model.

    `accuracy` is how often their own answers are probably right; `confusion[truth][answer]` what they
    answer when the truth is so.
    """

    name: str
    n: int
    accuracy: float
    confusion: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """Labels with their posterior, the annotators, and whether the iteration settled."""

    labels: list[Label]
    annotators: list[Annotator]
    prevalence: Mapping[str, float]
    iterations: int
    converged: bool


@dataclass(frozen=True, slots=True)
class Match:
    """How often an annotator agrees with the majority of the others.

    Items on which the others tie, or where there is no other, cannot be matched; they are counted apart.
    """

    annotator: str
    share: Interval
    n_unmatched: int


def majority(ratings: Ratings) -> list[Label]:
    """The most frequent answer of each item. A tie has the value None and says so in `method`."""
    counts = ratings.counts
    return [
        _label(ratings, at, counts[at] / max(counts[at].sum(), 1), int(counts[at].sum()), "majority")
        for at in range(len(ratings.items))
    ]


def _label(ratings: Ratings, item: int, shares: FloatArray, n: int, method: str) -> Label:
    """The label of an item by its shares (votes or posterior); None for a tie or where nobody answered."""
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
    """Each annotator against the majority of the others, with Wilson's interval.

    Their own answer is left out of the majority: with few raters it would match itself. KoCoSa qualifies
    annotators at 65 % on 20 items.
    """
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
    """Dawid and Skene's (1979) model by expectation maximisation, from the vote shares on.

    Every annotator has a table of what they answer given the truth; truth and tables are estimated in
    turn until no posterior moves by more than `tolerance`. Nothing is drawn at random.
    """
    if max_iterations < 1 or tolerance <= 0:
        raise ConfigError("Dawid-Skene needs at least one iteration and a tolerance above 0")
    counts = ratings.counts
    if not counts.sum():
        raise DataError("Dawid-Skene needs at least one answer: there is none")
    size = len(ratings.categories)
    given = np.stack([ratings.codes == category for category in range(size)], axis=2).astype(float)
    answered = counts.sum(axis=1) > 0
    posterior = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    converged = False
    iterations = 0
    while not converged and iterations < max_iterations:
        prevalence, tables = _maximise(posterior[answered], given[answered])
        updated = np.where(answered[:, None], _expect(prevalence, tables, given), posterior)
        converged = bool(np.abs(updated - posterior).max() < tolerance)
        posterior = updated
        iterations += 1
    return DawidSkene(
        labels=[
            _label(ratings, at, posterior[at], int(counts[at].sum()), "dawid-skene")
            for at in range(len(ratings.items))
        ],
        annotators=_annotators(ratings, posterior, tables),
        prevalence=dict(zip(ratings.categories, prevalence.tolist(), strict=True)),
        iterations=iterations,
        converged=converged,
    )


def _maximise(posterior: FloatArray, given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How common each truth is, and each annotator's table (raters x truth x answer), given the posterior."""
    prevalence = posterior.sum(axis=0) + SMOOTHING
    items, raters, size = given.shape
    by_truth = (posterior.T @ given.reshape(items, raters * size)).reshape(size, raters, size)
    tables = by_truth.transpose(1, 0, 2) + SMOOTHING
    return prevalence / prevalence.sum(), tables / tables.sum(axis=2, keepdims=True)


def _expect(prevalence: FloatArray, tables: FloatArray, given: FloatArray) -> FloatArray:
    """What is probably true of each item; in logarithms, since many raters' product would vanish."""
    items, raters, size = given.shape
    answers = np.log(tables).transpose(0, 2, 1).reshape(raters * size, size)
    likelihood = np.log(prevalence) + given.reshape(items, raters * size) @ answers
    likelihood -= likelihood.max(axis=1, keepdims=True)
    weights = np.exp(likelihood)
    posterior: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return posterior


def _annotators(ratings: Ratings, posterior: FloatArray, tables: FloatArray) -> list[Annotator]:
    found = []
    for rater, name in enumerate(ratings.raters):
        rows = np.flatnonzero(ratings.codes[:, rater] != MISSING)
        if not rows.size:
            continue
        right = posterior[rows, ratings.codes[rows, rater]]
        confusion = {
            truth: dict(zip(ratings.categories, tables[rater, at].tolist(), strict=True))
            for at, truth in enumerate(ratings.categories)
        }
        found.append(Annotator(name, len(rows), float(right.mean()), confusion))
    return found
