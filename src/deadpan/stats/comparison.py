"""Paired comparisons of systems on the same examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, overload

import numpy as np

from deadpan.arguments import check_list, check_mapping, check_predictions, check_seed, check_whole
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats.bootstrap import (
    ONE_CLUSTER,
    RESAMPLES,
    Statistic,
    check_statistic,
    counted_clusters,
    kinds_of_clusters,
    resample_rows,
    resample_totals,
)
from deadpan.stats.clusters import FEWEST, cluster_codes, too_few
from deadpan.stats.direction import with_direction
from deadpan.stats.interval import LEVEL, FloatArray, Interval, check_level, percentile_interval, undefined
from deadpan.stats.outcomes import Outcomes, match, score_named
from deadpan.stats.scores import remark
from deadpan.stats.table import count_of

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

EXACT_BELOW = 25
"""With fewer discordant examples than this, McNemar's test is exact."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test: examples that only the first or only the second system got right, and the p value."""

    only_first: int
    only_second: int
    p: float
    method: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The first's score minus the second's, and a two-sided p value; None if undefined.

    `n_clusters` counts the clusters that were resampled, where that is known.
    """

    interval: Interval
    p: float | None
    n_clusters: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Two systems: the difference of a score with its p value, and McNemar's test.

    The `_holm` values are adjusted for all pairs of one call. McNemar's test assumes independent
    examples; where they come in groups, use `p`, which resamples whole groups. With few clusters `p` is too
    small too often, so nothing is called significant then.
    """

    first: str
    second: str
    score: str
    difference: Interval
    p: float | None
    p_holm: float | None
    mcnemar: McNemar
    mcnemar_p_holm: float
    n_clusters: int | None = None

    def __repr__(self) -> str:
        return f"Comparison({self.first} - {self.second}: {self.score} {self.difference}, {self.verdict})"

    @property
    def too_few(self) -> str:
        """The reason that clusters are too few to call anything significant; empty if they are enough."""
        return "" if self.n_clusters is None else too_few(self.n_clusters)

    @property
    def significant(self) -> bool:
        """True if the Holm-adjusted p value is below 1 - level, and clusters are enough."""
        return self.p_holm is not None and not self.too_few and self.p_holm < 1 - self.difference.level

    @property
    def verdict(self) -> str:
        """One phrase: significantly different, not significantly different, not settled, or undefined."""
        if self.p_holm is None:
            return f"undefined ({self.difference.why})"
        if self.too_few:
            return f"not settled ({self.too_few})"
        return "significantly different" if self.significant else "not significantly different"

    def as_dict(self) -> dict[str, object]:
        """Return the fields and whether the difference is significant, for a manifest or `--json`."""
        return asdict(self) | {"significant": self.significant}

    def summary(self) -> Summary:
        """Return a table of one row."""
        return Comparisons((self,)).summary()


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Result, Sequence[Comparison]):
    """All pairs of systems compared by one score: a sequence of Comparison."""

    pairs: tuple[Comparison, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Comparison, ...]: ...
    def __getitem__(self, index: int | slice) -> Comparison | tuple[Comparison, ...]:
        return self.pairs[index]

    def __repr__(self) -> str:
        significant = sum(pair.significant for pair in self.pairs)
        return f"Comparisons({len(self.pairs)} pairs, {significant} significantly different)"

    def as_dict(self) -> dict[str, object]:
        """Return the pairs, for a manifest or `--json`."""
        return {"comparisons": [pair.as_dict() for pair in self.pairs]}

    def summary(self) -> Summary:
        """Return a table with one row per pair."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(
            (
                f"{pair.first} - {pair.second}",
                pair.difference,
                pair.p_holm,
                pair.mcnemar_p_holm,
                _result(pair),
            )
            for pair in self.pairs
        )
        metric = self.pairs[0].score if self.pairs else "score"
        columns = ("systems", f"difference of {with_direction(metric)}", "p", "McNemar p", "result")
        note = "p: paired bootstrap over clusters of examples. Both p values are adjusted by Holm's method."
        return Summary((Table(columns, rows),), (note, *cautions(self.pairs)))


def _result(pair: Comparison) -> str:
    """Return the verdict in a word or two; why it is not settled is said below the table."""
    if pair.too_few and pair.p_holm is not None:
        return "not settled"
    return "significant" if pair.significant else pair.verdict.removesuffix("ly different")


def cautions(pairs: Sequence[Comparison]) -> list[str]:
    """Return what a few clusters cannot tell, as one sentence or none."""
    said = dict.fromkeys(pair.too_few for pair in pairs if pair.too_few)
    return [
        f"Warning: {why}: with fewer than {FEWEST} a bootstrap finds differences where there are none, so "
        "nothing is called significant."
        for why in said
    ]


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Run McNemar's test on the numbers of examples that only one of the two systems got right."""
    only_first = check_whole(only_first, "the count of only_first")
    only_second = check_whole(only_second, "the count of only_second")
    n = only_first + only_second
    if n == 0:
        return McNemar(0, 0, 1.0, "none: both systems are right on the same examples")
    if n < EXACT_BELOW:
        tail = sum(math.comb(n, count) for count in range(min(only_first, only_second) + 1)) / 2**n
        return McNemar(only_first, only_second, min(1.0, 2 * tail), "exact binomial")
    chi_square = max(abs(only_first - only_second) - 1, 0) ** 2 / n
    # The upper tail of chi-square with one degree of freedom.
    p = math.erfc(math.sqrt(chi_square / 2))
    return McNemar(only_first, only_second, p, "chi-square, continuity corrected")


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for multiple comparisons by Holm's method."""
    p_values = check_list(p_values, "p_values")
    for p in p_values:
        if not isinstance(p, int | float) or not 0 <= p <= 1:
            raise DataError(f"a p value is a number from 0 to 1: got {p!r}")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = running
    return adjusted


def bootstrap_difference(
    first: Statistic,
    second: Statistic,
    groups: Sequence[str],
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Difference:
    """Return the difference of two functions of the same rows, by resampling clusters of rows."""
    check_level(level)
    check_statistic(first)
    check_statistic(second)
    groups = check_list(groups, "groups")
    clusters = cluster_codes(groups)
    if not clusters.size:
        return Difference(undefined("no rows", 0, level), None)

    def difference(rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float | None:
        one, other = first(rows), second(rows)
        return None if one is None or other is None else one - other

    value = difference(np.arange(len(groups)))
    if value is None or math.isnan(value):
        return Difference(undefined("undefined on these data", len(groups), level), None)
    if clusters.max() == 0:
        return Difference(Interval(value, None, None, level, len(groups), ONE_CLUSTER), None)
    replicates = resample_rows(difference, clusters, resamples, seed)
    return _difference(value, replicates, len(groups), level)


def compare_predictions(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[Prediction]],
    metric: str = "accuracy",
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Comparisons:
    """Compare the predictions of every pair of systems on the same examples.

    Parameters
    ----------
    examples : the examples, with labels.
    systems : a mapping from the name of a system to its list of Predictions, one per example.
    metric : the score to compare by, such as "accuracy", "macro_f1" or "pair_accuracy".
    seed, resamples, level : of the paired bootstrap, which resamples clusters of examples that share a
        group or a sequence.

    Returns a sequence with one Comparison per pair: the difference with its confidence interval, the
    bootstrap's p value and McNemar's, both adjusted by Holm's method.

    >>> from deadpan import compare_predictions, read_dataset, Prediction
    >>> examples = read_dataset("starter-en").examples
    >>> systems = {"always": [Prediction(e.id, True) for e in examples],
    ...            "never": [Prediction(e.id, False) for e in examples]}
    >>> compare_predictions(examples, systems)[0].verdict
    'not significantly different'
    """
    check_level(level)
    check_seed(seed)
    score_named(metric)
    check_mapping(systems, "systems", "pass {name: predictions}")
    if len(systems) < 2:
        raise ConfigError(f"a comparison needs at least two systems: got {len(systems)}")
    outcomes = {name: match(examples, check_predictions(rows)) for name, rows in systems.items()}
    pairs = list(combinations(systems, 2))
    differences = [_compare(outcomes[a], outcomes[b], metric, seed, level, resamples) for a, b in pairs]
    tests = [_mcnemar_of(outcomes[a], outcomes[b]) for a, b in pairs]
    defined = {at: difference.p for at, difference in enumerate(differences) if difference.p is not None}
    adjusted = dict(zip(defined, holm(list(defined.values())), strict=True))
    mcnemar_adjusted = holm([test.p for test in tests])
    return Comparisons(
        tuple(
            Comparison(
                first,
                second,
                metric,
                differences[at].interval,
                differences[at].p,
                adjusted.get(at),
                tests[at],
                mcnemar_adjusted[at],
                differences[at].n_clusters,
            )
            for at, (first, second) in enumerate(pairs)
        )
    )


def _compare(
    first: Outcomes, second: Outcomes, name: str, seed: int, level: float, resamples: int
) -> Difference:
    score = score_named(name)
    if why := first.why_not(score.block) or second.why_not(score.block):
        return Difference(undefined(why, len(first.truth), level), None)
    sheets = [outcomes.columns(score.block) for outcomes in (first, second)]
    width = sheets[0].shape[1]

    def difference(sums: FloatArray) -> FloatArray:
        return score.of(sums[..., :width]) - score.of(sums[..., width:])

    # Both systems' columns are resampled together, so that they are scored on the same examples.
    columns = np.hstack(sheets)
    n = count_of(score.block, sheets[0].sum(axis=0))
    kinds, multiplicity = kinds_of_clusters(columns, first.clusters)
    counted = min(
        counted_clusters(score.whole(part), multiplicity) for part in (kinds[:, :width], kinds[:, width:])
    )
    value = float(difference(columns.sum(axis=0)))
    if math.isnan(value):
        return Difference(undefined(remark(name, sheets[0].sum(axis=0).reshape(2, 3)), n, level), None)
    n_clusters = int(multiplicity.sum())
    if n_clusters == 1:
        return Difference(Interval(value, None, None, level, n, ONE_CLUSTER), None, 1)
    replicates = resample_totals(kinds, multiplicity, difference, resamples, seed)
    found = _difference(value, replicates, n, level, counted, (-1.0, 1.0))
    return replace(found, n_clusters=n_clusters)


def _difference(
    value: float,
    replicates: FloatArray,
    n: int,
    level: float,
    clusters: int = 0,
    limits: tuple[float, float] | None = None,
) -> Difference:
    """Return the interval, and as p twice the smaller share of resamples on either side of 0.

    One is added to count and total, so that p is never 0: its smallest value depends on the resamples.
    """
    interval = percentile_interval(value, replicates, n, level, clusters=clusters, limits=limits)
    kept = replicates[~np.isnan(replicates)]
    if not kept.size:
        return Difference(interval, None)
    tail = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
    return Difference(interval, min(1.0, 2 * (tail + 1) / (kept.size + 1)))


def _mcnemar_of(first: Outcomes, second: Outcomes) -> McNemar:
    right = [
        np.array([answer == label for answer, label in zip(one.answers, one.truth, strict=True)], dtype=bool)
        for one in (first, second)
    ]
    return mcnemar(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
