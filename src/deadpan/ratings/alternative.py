"""The alternative annotator test: may a model replace the people who label? (Calderon et al., ACL 2025.)

Each person is left out in turn. On the items of that person, the model and the person are compared with the
answers of the others: who agrees with them at least as well? A person is "won" if the model's advantage is not
worse than the person's by `epsilon` or more (a one-sided test, with the false discovery rate controlled by
Benjamini and Yekutieli's method). The model passes if it wins against half of the people or more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_seed, check_share
from deadpan.errors import ConfigError, DataError, need
from deadpan.ratings.coefficients import Metric
from deadpan.ratings.ratings import MISSING, Ratable, Ratings, as_ratings
from deadpan.results import Result
from deadpan.stats.interval import LEVEL, FloatArray, IntArray, Interval, check_resamples, interval_name, wilson

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

EPSILON = 0.2
"""The price of a person's answer above a model's: 0.2 for experts, 0.15 for trained people, 0.1 for a crowd."""

FEWEST_PEOPLE, FEWEST_ITEMS = 3, 30
"""With fewer people, "the others" are one person; below 30 items Wilcoxon's test takes the place of Student's."""

_LEVEL, _POWER = 0.05, 0.8


@dataclass(frozen=True, slots=True)
class PersonCompared:
    """The model against one person, on the person's items that others answered too.

    `model` and `person` are the shares of items on which each agrees with the others at least as well; `p` is
    adjusted for the number of people. `enough` is about how many items would win with 80 % power if the shares
    stayed as they are; None where the model is too far behind.
    """

    annotator: str
    n: int
    model: float
    person: float
    p: float
    won: bool
    enough: int | None


@dataclass(frozen=True, slots=True, repr=False)
class AlternativeTest(Result):
    """The share of people whom the model wins against, and its mean advantage, with intervals over items."""

    winning_rate: Interval
    advantage: Interval
    people: tuple[PersonCompared, ...]
    epsilon: float
    unanswered: int

    def __repr__(self) -> str:
        return f"AlternativeTest(winning rate {self.winning_rate.value:.2f}, {len(self.people)} people)"

    @property
    def passes(self) -> bool:
        """True if the model wins against at least half of the people."""
        return (self.winning_rate.value or 0.0) >= 0.5

    def as_dict(self) -> dict[str, object]:
        """Return all of it, for `--json`."""
        people = [{name: getattr(one, name) for name in PersonCompared.__slots__} for one in self.people]
        return {
            "winning_rate": self.winning_rate.as_dict(), "advantage": self.advantage.as_dict(), "passes": self.passes,
            "epsilon": self.epsilon, "people": people, "unanswered": self.unanswered,
        }  # fmt: skip

    def summary(self) -> Summary:
        """Return the people, the winning rate and the verdict."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((o.annotator, o.n, o.model, o.person, _shown(o.p), "yes" if o.won else "no",
                      _enough(o)) for o in self.people)  # fmt: skip
        columns = ("left out", "items", "model", "person", "p", "won", "enough")
        rates = (("Winning rate", self.winning_rate), ("Mean advantage of the model", self.advantage))
        what = f"value, {interval_name(self.winning_rate.level)}"
        verdict = "can" if self.passes else "cannot"
        notes = [f"By this test the model {verdict} replace a person (epsilon {self.epsilon:g})."]
        if min(one.n for one in self.people) < FEWEST_ITEMS:
            notes = [f"Not settled: some people have fewer than {FEWEST_ITEMS} items, too few for a conclusion."]
        if self.unanswered:
            notes.append(f"{self.unanswered:,} items without an answer of the model are left out.")
        title = "Agreement with the others at least as good, share of items"
        return Summary((Table(("alternative annotator test", what), rates), Table(columns, rows, title)), tuple(notes))


def _shown(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _enough(one: PersonCompared) -> str:
    return "" if one.won else "no number" if one.enough is None else f"{one.enough:,} items"


def alternative_test(
    ratings: Ratable,
    candidate: Mapping[str, str],
    *,
    epsilon: float = EPSILON,
    metric: Metric = "nominal",
    resamples: int = 1_000,
    level: float = LEVEL,
    seed: int = 0,
) -> AlternativeTest:
    """Test whether a model can take the place of a person among the raters.

    `candidate` maps items to the model's answers. Agreement with the others is the share who gave the same
    answer; with an ordinal, interval or ratio `metric` it is the root mean squared distance.
    """
    ratings = as_ratings(ratings)
    check_share(epsilon, "epsilon")
    check_seed(seed)
    check_resamples(resamples)
    if len(ratings.raters) < FEWEST_PEOPLE:
        raise DataError(
            f"the alternative annotator test needs {FEWEST_PEOPLE} people: there are {len(ratings.raters)}; "
            "with one or two there is nobody to compare both with"
        )
    answers = _candidate_codes(ratings, candidate)
    gains, shares = zip(*(_compared(ratings, answers, at, metric) for at in range(len(ratings.raters))), strict=True)
    if empty := [name for name, gain in zip(ratings.raters, gains, strict=True) if (~np.isnan(gain)).sum() < 2]:
        raise DataError(f"{empty[0]!r} shares fewer than two items with others and the model: leave them out")
    raw = np.array([_p_value(gain[~np.isnan(gain)], epsilon) for gain in gains])
    adjusted = _benjamini_yekutieli(raw)
    people = tuple(
        PersonCompared(name, int((~np.isnan(g)).sum()), s[0], s[1], float(p), bool(p < _LEVEL),
                       _items_needed(g[~np.isnan(g)], epsilon, len(raw)))
        for name, g, s, p in zip(ratings.raters, gains, shares, adjusted, strict=True)
    )  # fmt: skip
    matrix = np.stack(gains, axis=1)
    rates, means = _resampled(matrix, epsilon, resamples, seed)
    ends = [(1 - level) / 2, (1 + level) / 2]
    won = float(np.mean([one.won for one in people]))
    # Of items, each counts as often as it is drawn; the model's mean share follows from the gains.
    advantage = float(np.mean([one.model for one in people]))
    low, high = np.quantile(means - means.mean(), ends) + advantage
    n, m = len(ratings.items), len(people)
    least, most = np.quantile(rates, ends)
    interval = Interval(won, min(float(least), won), max(float(most), won), level, m)
    if min(one.n for one in people) < FEWEST_ITEMS:
        interval = Interval(won, None, None, level, m, f"no interval below {FEWEST_ITEMS} items per person")
    missing = int((answers == MISSING).sum())
    mean = Interval(advantage, max(float(low), 0.0), min(float(high), 1.0), level, n - missing)
    if np.ptp(means) == 0:  # every resample is the same: no spread to measure
        mean = wilson(round(advantage * (n - missing)), n - missing, level)
    return AlternativeTest(interval, mean, people, epsilon, missing)


def _candidate_codes(ratings: Ratings, candidate: Mapping[str, str]) -> IntArray:
    """Return the model's answers as codes; an answer that no person gave gets a number of its own."""
    known = {category: code for code, category in enumerate(ratings.categories)}
    codes = np.full(len(ratings.items), MISSING, np.int64)
    for at, item in enumerate(ratings.items):
        answer = str(candidate[item]).strip() if item in candidate else ""
        if answer:
            codes[at] = known.setdefault(answer, len(known))
    if (codes == MISSING).all():
        raise DataError("the model answers none of the items: are the ids the same in both files?")
    if (codes >= len(ratings.categories)).all():
        other = next(iter(candidate.values()))
        raise DataError(f"no answer of the model is one of {', '.join(ratings.categories)}: got {other!r}")
    return codes


def _compared(ratings: Ratings, model: IntArray, at: int, metric: Metric) -> tuple[FloatArray, tuple[float, float]]:
    """Return, per item, person minus model (1, 0, -1; NaN where not comparable), and both shares."""
    others = np.delete(ratings.codes, at, axis=1)
    given = others != MISSING
    usable = (ratings.codes[:, at] != MISSING) & (model != MISSING) & given.any(axis=1)
    by_model, by_person = (_alignment(ratings, codes, others, given, metric) for codes in (model, ratings.codes[:, at]))
    wins_model, wins_person = by_model >= by_person - 1e-12, by_person >= by_model - 1e-12
    gain = np.where(usable, wins_person.astype(float) - wins_model, np.nan)
    total = max(int(usable.sum()), 1)
    return gain, (float(wins_model[usable].sum() / total), float(wins_person[usable].sum() / total))


def _alignment(ratings: Ratings, codes: IntArray, others: IntArray, given: FloatArray, metric: Metric) -> FloatArray:
    """Return how well the answers agree with those of the others, per item."""
    count = np.maximum(given.sum(axis=1), 1)
    if metric == "nominal":
        same: FloatArray = ((others == codes[:, None]) & given).sum(axis=1) / count
        return same
    if metric == "ordinal":
        if not ratings.ordered:
            raise ConfigError(f"an ordinal scale needs the order of {', '.join(ratings.categories)}: pass --order")
        values = np.arange(len(ratings.categories), dtype=np.float64)
    else:
        values = ratings.numbers()
    # An answer outside the categories is as wrong as can be.
    own = np.append(values, np.inf)[np.minimum(codes, len(values))]
    squares = np.where(given, (values[others] - own[:, None]) ** 2, 0.0)
    distance: FloatArray = -np.sqrt(squares.sum(axis=1) / count)
    return distance


def _p_value(gain: FloatArray, epsilon: float) -> float:
    """Return the one-sided p value of "the person is better by epsilon or more"."""
    stats = need("scipy.stats", "train")
    less = gain - epsilon
    if np.ptp(less) == 0:
        # No spread to measure: as likely as n answers of one kind, if either kind were as likely.
        return 0.5 ** len(less) if less[0] < 0 else 1.0
    if len(less) < FEWEST_ITEMS:
        return float(stats.wilcoxon(less, alternative="less").pvalue)
    return float(stats.ttest_1samp(less, 0.0, alternative="less").pvalue)


def _benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Return p values adjusted for the false discovery rate under any dependence, along the last axis."""
    m = p.shape[-1]
    factor = m * float((1 / np.arange(1, m + 1)).sum()) / np.arange(1, m + 1)
    order = np.argsort(p, axis=-1)
    scaled = np.take_along_axis(p, order, axis=-1) * factor
    falling = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(falling, 1.0), axis=-1)
    return adjusted


def _items_needed(gain: FloatArray, epsilon: float, people: int) -> int | None:
    stats = need("scipy.stats", "train")
    short, spread = epsilon - float(gain.mean()), float(gain.std(ddof=1))
    if short <= 0:
        return None
    # The strictest step of the adjustment: enough whatever the others show.
    strictest = _LEVEL / (people * sum(1 / k for k in range(1, people + 1)))
    z = float(stats.norm.isf(strictest) + stats.norm.ppf(_POWER))
    return max(math.ceil((z * max(spread, 0.1) / short) ** 2), FEWEST_ITEMS)


def _resampled(gains: FloatArray, epsilon: float, resamples: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the winning rate and the model's mean share over resamples of items (by Student's test)."""
    stats = need("scipy.stats", "train")
    rng = np.random.default_rng(seed)
    known = ~np.isnan(gains)
    values = np.where(known, gains, 0.0)
    weights = rng.multinomial(len(gains), np.full(len(gains), 1 / len(gains)), resamples).astype(np.float64)
    n = np.maximum(weights @ known, 2.0)
    mean = (weights @ values) / n
    variance = np.maximum((weights @ values**2) / n - mean**2, 1e-6) * n / (n - 1)
    p = stats.t.sf((epsilon - mean) / np.sqrt(variance / n), n - 1)
    rates: FloatArray = (_benjamini_yekutieli(p) < _LEVEL).mean(axis=1)
    model: FloatArray = ((weights @ np.where(known, gains <= 0, 0.0)) / n).mean(axis=1)
    return rates, model
