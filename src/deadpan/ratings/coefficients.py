"""Inter-rater agreement: Cohen, Fleiss, Krippendorff, Gwet and raw agreement.

Each coefficient is a function of sums over items, so its bootstrap over items is one matrix product:
items with the same row of answers are interchangeable, and only how often each kind of row is drawn
matters. A coefficient that is undefined (all answers are the same) is None with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from deadpan.arguments import check_flag, check_seed, check_text
from deadpan.errors import ConfigError
from deadpan.ratings.ratings import MISSING, Ratable, Ratings, as_ratings, count_answers
from deadpan.results import Result
from deadpan.stats.interval import (
    LEVEL,
    RESAMPLES,
    SAME_EVERYWHERE,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    check_resamples,
    interval_name,
    totals_interval,
    undefined,
)
from deadpan.stats.scores import share

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

Weights = Literal["none", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]

ALL_SAME = "all answers the same: chance agreement is 1, so kappa is undefined"
ALL_SAME_ALPHA = "all answers the same: no disagreement to expect, so alpha is undefined"
NO_TWO = "no item has two answers"
# The studio translates these texts: change its translations with them.

NAMES = {
    "raw": "Raw agreement",
    "cohen": "Cohen's kappa (mean over pairs of raters)",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Agreement(Result, Mapping[str, Interval]):
    """Every coefficient by name: a mapping with the keys raw, cohen, fleiss, alpha and ac1."""

    coefficients: Mapping[str, Interval]
    n_items: int
    n_raters: int
    singles: bool = False

    def __getitem__(self, name: str) -> Interval:
        return self.coefficients[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    def __repr__(self) -> str:
        return f"Agreement({len(self)} coefficients, {self.n_items:,} items, {self.n_raters:,} raters)"

    def as_dict(self) -> dict[str, object]:
        """Return the coefficients, for `--json`."""
        return {name: value.as_dict() for name, value in self.items()}

    def summary(self) -> Summary:
        """Return a table with one row per coefficient."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        level = self["raw"].level
        rows = tuple((NAMES.get(name, name), value) for name, value in self.items())
        table = Table(("coefficient", f"value, {interval_name(level)}"), rows)
        notes = [f"{self.n_items:,} items, {self.n_raters:,} raters"]
        twice = self["raw"].n
        if twice < self.n_items:
            chance = "all items (Gwet 2014)" if self.singles else "the same items"
            notes.append(
                f"Fleiss' kappa and Gwet's AC1: agreement of the {twice:,} items with two answers or more, chance of "
                f"{chance}"
            )
        return Summary((table,), tuple(notes))


def raw_agreement(ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0) -> Interval:
    """Return the share of pairs of raters who agree, averaged over items with at least two answers."""
    ratings = as_ratings(ratings)

    def of(sums: FloatArray) -> FloatArray:
        return share(sums[..., 0], sums[..., 1], np.nan)

    return _over_items(ratings, _agreement_columns, of, NO_TWO, resamples, level, seed, chance=0.0)


def fleiss_kappa(
    ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0, *, singles: bool = False
) -> Interval:
    """Return Fleiss' kappa; the number of raters may differ between items.

    Agreement and chance are those of the items with at least two answers, with equal weight per item. With
    `singles`, items with one answer count for chance too (Gwet 2014). Equal numbers: Fleiss (1971).
    """
    ratings = _rated_twice(as_ratings(ratings), singles)

    def of(sums: FloatArray) -> FloatArray:
        agreed, shares = _agreed_and_shares(sums)
        return _beyond_chance(agreed, (shares**2).sum(axis=-1))

    return _over_items(ratings, _agreement_columns, of, ALL_SAME, resamples, level, seed)


def gwet_ac1(
    ratings: Ratings, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0, *, singles: bool = False
) -> Interval:
    """Return Gwet's AC1, which stays defined when nearly all answers are the same.

    Its chance agreement depends on the number of categories, unused ones included: pass `categories` to
    the function that makes the ratings. `singles` as for Fleiss' kappa.
    """
    ratings = _rated_twice(as_ratings(ratings), singles)
    n_categories = len(ratings.categories)
    if n_categories == 1:
        why = "all answers are the same and no other category is known: AC1 needs the categories"
        return undefined(why, _n_rated_twice(ratings), level)

    def of(sums: FloatArray) -> FloatArray:
        agreed, shares = _agreed_and_shares(sums)
        return _beyond_chance(agreed, (shares * (1 - shares)).sum(axis=-1) / (n_categories - 1))

    chance = (1 - _same_by_chance(ratings)) / (n_categories - 1)
    return _over_items(ratings, _agreement_columns, of, ALL_SAME, resamples, level, seed, chance=chance)


def cohen_kappa(
    ratings: Ratings, weights: Weights = "none", resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Return Cohen's kappa of two raters on the items both answered.

    `weights` makes a distant disagreement cost more: by the steps between categories, or their square.
    """
    ratings = as_ratings(ratings)
    if len(ratings.raters) != 2:
        why = f"Cohen's kappa needs two raters: there are {len(ratings.raters)}"
        return undefined(why, len(ratings.items), level)
    return mean_cohen_kappa(ratings, weights, resamples, level, seed)


def mean_cohen_kappa(
    ratings: Ratings, weights: Weights = "none", resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Return the mean of Cohen's kappa over all pairs of raters for whom it is defined."""
    ratings = as_ratings(ratings)
    cost = _disagreement_cost(ratings, weights)
    pairs = list(combinations(range(len(ratings.raters)), 2))
    size = len(ratings.categories)

    def columns(codes: IntArray) -> FloatArray:
        """Return a flat table of answers per pair of raters; the sum over items is its confusion table."""
        cells = np.zeros((len(codes), len(pairs), size * size))
        for at, (one, other) in enumerate(pairs):
            both = np.flatnonzero((codes[:, one] != MISSING) & (codes[:, other] != MISSING))
            cells[both, at, codes[both, one] * size + codes[both, other]] = 1.0
        return cells.reshape(len(codes), -1)

    def of(sums: FloatArray) -> FloatArray:
        kappas = _kappa_of_tables(sums.reshape(-1, len(pairs), size, size), cost)
        defined = ~np.isnan(kappas)
        return share(np.where(defined, kappas, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float), np.nan)

    mean = _over_items(ratings, columns, of, ALL_SAME, resamples, level, seed, named=True)
    if mean.value is None:
        return mean
    tables = columns(ratings.codes).sum(axis=0).reshape(len(pairs), size, size)
    excluded = int(np.isnan(_kappa_of_tables(tables, cost)).sum())
    remark = f"{excluded} of {len(pairs)} pairs of raters excluded: no common item, or all answers the same"
    return replace(mean, why="; ".join(part for part in (mean.why, remark if excluded else "") if part))


def krippendorff_alpha(
    ratings: Ratings, metric: Metric = "nominal", resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Return Krippendorff's alpha for any number of raters and missing answers.

    `metric` is the cost of a disagreement: nominal (all equal), ordinal (by rank), interval (squared
    distance) or ratio (squared distance relative to the sum).
    """
    ratings = as_ratings(ratings)
    size = len(ratings.categories)
    cost = _metric_cost(ratings, metric)

    def columns(codes: IntArray) -> FloatArray:
        """Return the flat coincidence matrix of each item, with equal weight per answer."""
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
    ratings: Ratable,
    metric: Metric = "nominal",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    *,
    singles: bool = False,
) -> Agreement:
    """Compute every agreement coefficient with its confidence interval over items.

    Parameters
    ----------
    ratings : Ratings, a list of Judgments, a matrix with one row per item and one column per rater, or a
        mapping from each rater to the list of their answers (also a pandas DataFrame with a column per
        rater). None is a missing answer.
    metric : the cost of a disagreement in Krippendorff's alpha: nominal, ordinal, interval or ratio.
    resamples, level, seed : of the bootstrap over items.
    singles : count items with one answer for the chance agreement of Fleiss' kappa and Gwet's AC1 (Gwet 2014).

    Returns a mapping from raw, cohen, fleiss, alpha and ac1 to Intervals; Cohen's kappa is the mean over
    pairs of raters. An undefined coefficient has the value None and the reason in `why`.

    >>> from deadpan import agreement
    >>> agreement({"ann": ["yes", "no", "yes"], "bob": ["yes", "no", "no"]})["raw"].value
    0.6666666666666666
    """
    ratings = as_ratings(ratings)
    coefficients = {
        "raw": raw_agreement(ratings, resamples, level, seed),
        "cohen": mean_cohen_kappa(ratings, "none", resamples, level, seed),
        "fleiss": fleiss_kappa(ratings, resamples, level, seed, singles=singles),
        "alpha": krippendorff_alpha(ratings, metric, resamples, level, seed),
        "ac1": gwet_ac1(ratings, resamples, level, seed, singles=singles),
    }
    return Agreement(coefficients, len(ratings.items), len(ratings.raters), singles)


def _over_items(
    ratings: Ratings,
    columns: Callable[[IntArray], FloatArray],
    of: Callable[[FloatArray], FloatArray],
    why: str,
    resamples: int,
    level: float,
    seed: int,
    named: bool = False,
    chance: float | None = None,
) -> Interval:
    """Return the value and its interval over items; items without any answer are not resampled.

    `named` means that it matters which rater gave an answer. `chance` is the agreement by chance, by default
    that of the answers given: where raters agree on every item, resampling shows no spread, and the interval
    is that of raw agreement (Wilson's) corrected for it.
    """
    check_level(level)
    check_seed(seed)
    check_resamples(resamples)
    n = _n_rated_twice(ratings)
    if n == 0:
        return undefined(NO_TWO, 0, level)
    codes = ratings.codes[(ratings.codes != MISSING).any(axis=1)]
    if not named:
        # The order of answers does not matter, so rows with the same answers are of one kind.
        codes = np.sort(codes, axis=1)
    rows, multiplicity = np.unique(codes, axis=0, return_counts=True)
    kinds = columns(rows)
    value = of((multiplicity @ kinds)[None, :])[0]
    reason = why if np.isnan(value) else ""
    by_chance = _same_by_chance(ratings) if chance is None else chance
    limits = (-by_chance / (1 - by_chance), 1.0) if by_chance < 1 else None
    found = totals_interval(kinds, multiplicity, of, n, reason, resamples, level, seed, limits=limits,
                            whole=lambda _: _twice(rows)[:, None])  # fmt: skip
    if found.low is None or found.value is None or SAME_EVERYWHERE not in found.why:
        return found
    if abs(found.value) < 1e-12 and limits is not None:
        # A rater who gives one answer has a kappa of 0 in every resample: the error is that of chance agreement.
        half = float(NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(by_chance / (n * (1 - by_chance))))
        return replace(found, low=max(-half, limits[0], -1.0), high=min(half, 1.0))
    return replace(found, low=max(found.low, min(found.value, -1.0)))


def _rated_twice(ratings: Ratings, singles: bool) -> Ratings:
    """Return the items with at least two answers, or with `singles` all of them."""
    twice = (ratings.codes != MISSING).sum(axis=1) >= 2
    if check_flag(singles, "singles") or twice.all():
        return ratings
    items = tuple(item for item, kept in zip(ratings.items, twice.tolist(), strict=True) if kept)
    return replace(ratings, items=items, codes=ratings.codes[twice])


def _twice(codes: IntArray) -> FloatArray:
    """Return 1 for rows of answers that can agree: those with at least two."""
    answered: FloatArray = ((codes != MISSING).sum(axis=1) >= 2).astype(np.float64)
    return answered


def _same_by_chance(ratings: Ratings) -> float:
    """Return the probability that two answers drawn from all of them are the same."""
    counts = count_answers(ratings.codes, len(ratings.categories)).sum(axis=0)
    return float(((counts / max(counts.sum(), 1)) ** 2).sum())


def _n_rated_twice(ratings: Ratings) -> int:
    return int(((ratings.codes != MISSING).sum(axis=1) >= 2).sum())


def _agreement_columns(codes: IntArray) -> FloatArray:
    """Return each item's agreement, 1 if it has two answers, 1 if it has any, and its shares of answers."""
    counts = count_answers(codes, int(codes.max()) + 1)
    answers = counts.sum(axis=1)
    agreed = share((counts * (counts - 1)).sum(axis=1), answers * (answers - 1))
    head = np.stack([agreed, answers >= 2, answers >= 1], axis=1)
    return np.hstack([head, share(counts, answers[:, None])])


def _agreed_and_shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean agreement of items and the mean share of each answer, from summed columns."""
    return share(sums[..., 0], sums[..., 1], np.nan), share(sums[..., 3:], sums[..., 2:3], np.nan)


def _beyond_chance(agreed: FloatArray, chance: FloatArray) -> FloatArray:
    beyond = 1 - chance
    # Sums of shares carry rounding errors: a chance agreement this close to 1 is 1.
    return share(agreed - chance, np.where(beyond > 1e-12, beyond, 0.0), np.nan)


def _kappa_of_tables(tables: FloatArray, cost: FloatArray) -> FloatArray:
    """Return Cohen's kappa of each K x K table, 1 - observed / expected cost; NaN if the latter is 0."""
    total = tables.sum(axis=(-2, -1))
    observed = (tables * cost).sum(axis=(-2, -1))
    products = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    return 1 - share(observed * total, (products * cost).sum(axis=(-2, -1)), np.nan)


def _disagreement_cost(ratings: Ratings, weights: Weights) -> FloatArray:
    if check_text(weights, "weights") not in get_args(Weights):
        raise ConfigError(f"unknown weights {weights!r}: choose from {', '.join(get_args(Weights))}")
    if weights != "none":
        _need_order(ratings, f"{weights} weights")
    ranks = np.arange(len(ratings.categories), dtype=np.float64)
    steps = np.abs(ranks[:, None] - ranks[None, :])
    costs: dict[Weights, FloatArray] = {"none": (steps > 0).astype(float), "linear": steps, "quadratic": steps**2}
    return costs[weights]


def _need_order(ratings: Ratings, what: str) -> None:
    if not ratings.ordered:
        raise ConfigError(f"{what} need the order of {', '.join(ratings.categories)}: pass the categories in order")


def _metric_cost(ratings: Ratings, metric: Metric) -> Callable[[FloatArray], FloatArray]:
    """Return the cost of a disagreement (... x K x K) as a function of the answer counts (... x K)."""
    if check_text(metric, "metric") not in get_args(Metric):
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
            raise ConfigError(f"a ratio scale needs answers of at least 0: got {values.min():g}")
        fixed = apart**2 if metric == "interval" else share(apart**2, together**2)
    return lambda totals: fixed


def _ordinal_cost(totals: FloatArray) -> FloatArray:
    """Return the squared number of answers between two ranks, with both ends counted half."""
    middle = np.cumsum(totals, axis=-1) - totals / 2
    cost: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
    return cost
