"""How far raters agree beyond chance: Cohen, Fleiss, Krippendorff, Gwet and plain agreement.

Each is a function of sums over items, so its bootstrap over items is one matrix product: items with the
same row of answers are interchangeable, and only how often each kind of row is drawn matters.
What is undefined (all answers the same leaves nothing for chance to explain) comes as None and the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from deadpan.agreement.ratings import MISSING, Ratings, count_answers
from deadpan.errors import ConfigError
from deadpan.stats.bootstrap import RESAMPLES, totals_interval
from deadpan.stats.interval import LEVEL, FloatArray, IntArray, Interval, undefined
from deadpan.stats.scores import share

Weights = Literal["none", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]

ALL_SAME = "all answers the same: chance agreement is 1, so kappa is undefined"
ALL_SAME_ALPHA = "all answers the same: no disagreement to expect, so alpha is undefined"
NO_TWO = "no item has two answers"


def raw_agreement(
    ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """The share of pairs of raters who agree on an item, averaged over items with two answers or more."""

    def of(sums: FloatArray) -> FloatArray:
        return share(sums[..., 0], sums[..., 1], np.nan)

    return _over_items(ratings, _agreement_columns, of, NO_TWO, resamples, level, seed)


def fleiss_kappa(
    ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Fleiss' kappa; raters may differ in number from item to item.

    With unequal numbers it is Gwet's (2014) form: agreement over items with two answers or more, chance
    from every item's shares of answers, each item weighing the same. With equal numbers it is Fleiss (1971).
    """

    def of(sums: FloatArray) -> FloatArray:
        agreed, shares = _agreed_and_shares(sums)
        return _beyond_chance(agreed, (shares**2).sum(axis=-1))

    return _over_items(ratings, _agreement_columns, of, ALL_SAME, resamples, level, seed)


def gwet_ac1(ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0) -> Interval:
    """Gwet's AC1, which does not collapse when nearly all answers are the same.

    Its chance depends on how many categories there are, also unused ones: give `categories` to the ratings.
    """
    n_categories = len(ratings.categories)
    if n_categories == 1:
        why = "all answers the same and no other category known: give the categories to have AC1"
        return undefined(why, _n_rated_twice(ratings), level)

    def of(sums: FloatArray) -> FloatArray:
        agreed, shares = _agreed_and_shares(sums)
        return _beyond_chance(agreed, (shares * (1 - shares)).sum(axis=-1) / (n_categories - 1))

    return _over_items(ratings, _agreement_columns, of, ALL_SAME, resamples, level, seed)


def cohen_kappa(
    ratings: Ratings,
    weights: Weights = "none",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Cohen's kappa of two raters on the items both answered.

    Weights make a distant disagreement cost more: by the steps between categories, or their square.
    """
    if len(ratings.raters) != 2:
        why = f"Cohen's kappa is of two raters: there are {len(ratings.raters)}"
        return undefined(why, len(ratings.items), level)
    return mean_cohen_kappa(ratings, weights, resamples, level, seed)


def mean_cohen_kappa(
    ratings: Ratings,
    weights: Weights = "none",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """The mean of Cohen's kappa over all pairs of raters for whom it is defined."""
    cost = _disagreement_cost(ratings, weights)
    pairs = list(combinations(range(len(ratings.raters)), 2))
    size = len(ratings.categories)

    def columns(codes: IntArray) -> FloatArray:
        """One flat table of answers a pair of raters; summed over items, the pair's confusion table."""
        cells = np.zeros((len(codes), len(pairs), size * size))
        for at, (one, other) in enumerate(pairs):
            both = np.flatnonzero((codes[:, one] != MISSING) & (codes[:, other] != MISSING))
            cells[both, at, codes[both, one] * size + codes[both, other]] = 1.0
        return cells.reshape(len(codes), -1)

    def of(sums: FloatArray) -> FloatArray:
        kappas = _kappa_of_tables(sums.reshape(-1, len(pairs), size, size), cost)
        defined = ~np.isnan(kappas)
        return share(np.where(defined, kappas, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float), np.nan)

    found = _over_items(ratings, columns, of, ALL_SAME, resamples, level, seed, named=True)
    if found.value is None:
        return found
    tables = columns(ratings.codes).sum(axis=0).reshape(len(pairs), size, size)
    lost = int(np.isnan(_kappa_of_tables(tables, cost)).sum())
    remark = f"{lost} of {len(pairs)} pairs of raters left out: no common item, or all answers the same"
    return replace(found, why="; ".join(part for part in (found.why, remark if lost else "") if part))


def krippendorff_alpha(
    ratings: Ratings,
    metric: Metric = "nominal",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Krippendorff's alpha for any number of raters and missing answers.

    `metric` says what a disagreement costs: nominal any the same, ordinal by rank, interval by squared
    distance, ratio by squared distance relative to the sum.
    """
    size = len(ratings.categories)
    cost = _metric_cost(ratings, metric)

    def columns(codes: IntArray) -> FloatArray:
        """Each item's coincidences laid flat: pairs of its answers, each answer weighing the same."""
        counts = count_answers(codes, size)
        pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(size)
        others = counts.sum(axis=1) - 1
        return share(pairs, others[:, None, None]).reshape(len(codes), -1)

    def of(sums: FloatArray) -> FloatArray:
        coincidences = sums.reshape(-1, size, size)
        totals = coincidences.sum(axis=-1)
        deltas = cost(totals)
        observed = (coincidences * deltas).sum(axis=(-2, -1))
        expected = (totals[:, :, None] * totals[:, None, :] * deltas).sum(axis=(-2, -1))
        return 1 - share((totals.sum(axis=-1) - 1) * observed, expected, np.nan)

    return _over_items(ratings, columns, of, ALL_SAME_ALPHA, resamples, level, seed)


def agreement(
    ratings: Ratings,
    metric: Metric = "nominal",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> dict[str, Interval]:
    """Every coefficient by name; `metric` is that of alpha. Cohen's is the mean over pairs of raters."""
    return {
        "raw": raw_agreement(ratings, resamples, level, seed),
        "cohen": mean_cohen_kappa(ratings, "none", resamples, level, seed),
        "fleiss": fleiss_kappa(ratings, resamples, level, seed),
        "alpha": krippendorff_alpha(ratings, metric, resamples, level, seed),
        "ac1": gwet_ac1(ratings, resamples, level, seed),
    }


def _over_items(
    ratings: Ratings,
    columns: Callable[[IntArray], FloatArray],
    of: Callable[[FloatArray], FloatArray],
    why: str,
    resamples: int,
    level: float,
    seed: int,
    named: bool = False,
) -> Interval:
    """The value and its interval over items; items with no answer at all are not there to be drawn.

    `named` says that it matters which rater gave an answer.
    """
    n = _n_rated_twice(ratings)
    if n == 0:
        return undefined(NO_TWO, 0, level)
    codes = ratings.codes[(ratings.codes != MISSING).any(axis=1)]
    if not named:
        # Who gave which answer does not matter here, so rows with the same answers are of one kind.
        codes = np.sort(codes, axis=1)
    rows, multiplicity = np.unique(codes, axis=0, return_counts=True)
    kinds = columns(rows)
    value = of((multiplicity @ kinds)[None, :])[0]
    # The reason belongs to an undefined value only.
    reason = why if np.isnan(value) else ""
    return totals_interval(kinds, multiplicity, of, n, reason, resamples, level, seed)


def _n_rated_twice(ratings: Ratings) -> int:
    return int(((ratings.codes != MISSING).sum(axis=1) >= 2).sum())


def _agreement_columns(codes: IntArray) -> FloatArray:
    """Each item's agreement, whether it has two answers, whether it has any, and its shares of answers."""
    counts = count_answers(codes, int(codes.max(initial=0)) + 1)
    answers = counts.sum(axis=1)
    agreed = share((counts * (counts - 1)).sum(axis=1), answers * (answers - 1))
    head = np.stack([agreed, answers >= 2, answers >= 1], axis=1)
    return np.hstack([head, share(counts, answers[:, None])])


def _agreed_and_shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean agreement of items and mean share of each answer, from sums of `_agreement_columns`."""
    return share(sums[..., 0], sums[..., 1], np.nan), share(sums[..., 3:], sums[..., 2:3], np.nan)


def _beyond_chance(agreed: FloatArray, chance: FloatArray) -> FloatArray:
    room = 1 - chance
    # Sums of shares carry rounding: chance that is 1 but for the last digits is 1.
    return share(agreed - chance, np.where(room > 1e-12, room, 0.0), np.nan)


def _kappa_of_tables(tables: FloatArray, cost: FloatArray) -> FloatArray:
    """Cohen's kappa of each K x K table as 1 - observed / expected cost; NaN where chance costs nothing."""
    total = tables.sum(axis=(-2, -1))
    observed = (tables * cost).sum(axis=(-2, -1))
    products = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    return 1 - share(observed * total, (products * cost).sum(axis=(-2, -1)), np.nan)


def _disagreement_cost(ratings: Ratings, weights: Weights) -> FloatArray:
    if weights not in get_args(Weights):
        raise ConfigError(f"unknown weights {weights!r}: choose from {', '.join(get_args(Weights))}")
    if weights != "none":
        _need_order(ratings, f"{weights} weights")
    ranks = np.arange(len(ratings.categories), dtype=np.float64)
    steps = np.abs(ranks[:, None] - ranks[None, :])
    costs: dict[Weights, FloatArray] = {
        "none": (steps > 0).astype(float),
        "linear": steps,
        "quadratic": steps**2,
    }
    return costs[weights]


def _need_order(ratings: Ratings, what: str) -> None:
    if not ratings.ordered:
        raise ConfigError(
            f"{what} need to know the order of {', '.join(ratings.categories)}: give categories in order"
        )


def _metric_cost(ratings: Ratings, metric: Metric) -> Callable[[FloatArray], FloatArray]:
    """What a disagreement costs (... x K x K), given how often each answer came up (... x K)."""
    if metric not in get_args(Metric):
        raise ConfigError(f"unknown metric {metric!r}: choose from {', '.join(get_args(Metric))}")
    size = len(ratings.categories)
    if metric == "ordinal":
        _need_order(ratings, "ordinal alphas")
        return _ordinal_cost
    fixed: FloatArray = 1 - np.eye(size)
    if metric in ("interval", "ratio"):
        values = ratings.numbers()
        apart, together = values[:, None] - values[None, :], values[:, None] + values[None, :]
        if metric == "ratio" and (values < 0).any():
            raise ConfigError(f"a ratio scale has no negative answers: {values.min():g}")
        fixed = apart**2 if metric == "interval" else share(apart**2, together**2)
    return lambda totals: fixed


def _ordinal_cost(totals: FloatArray) -> FloatArray:
    """The squared number of answers from one rank to the other, both ends counted half."""
    middle = np.cumsum(totals, axis=-1) - totals / 2
    cost: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
    return cost
