"""Whether one system is better than another on the same examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.stats.bootstrap import (
    ONE_CLUSTER,
    RESAMPLES,
    Statistic,
    kinds_of_clusters,
    resample_rows,
    resample_totals,
)
from deadpan.stats.clusters import cluster_codes
from deadpan.stats.interval import LEVEL, FloatArray, Interval, check_level, percentile_interval, undefined
from deadpan.stats.outcomes import Outcomes, match, score_named
from deadpan.stats.scores import remark
from deadpan.stats.table import count_of

EXACT_BELOW = 25
"""With fewer examples than this on which exactly one system is right, the binomial is summed exactly."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Examples only the first got right, only the second, and how unlikely that is between equals."""

    only_first: int
    only_second: int
    p: float
    method: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The first's score minus the second's, and a two-sided p; None where undefined (see `interval.why`)."""

    interval: Interval
    p: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems: the difference of a score with its p, and McNemar's test of right against wrong.

    The `_holm` values are adjusted over all the pairs of one call. McNemar's test takes examples as
    independent; where they come in groups, trust `p`, which resamples whole groups.
    """

    first: str
    second: str
    score: str
    difference: Interval
    p: float | None
    p_holm: float | None
    mcnemar: McNemar
    mcnemar_p_holm: float

    def as_dict(self) -> dict[str, object]:
        """For a manifest or --json."""
        return asdict(self)


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's test from the two counts of examples that only one system got right."""
    if min(only_first, only_second) < 0:
        raise DataError(f"counts cannot be negative: got {only_first} and {only_second}")
    n = only_first + only_second
    if n == 0:
        return McNemar(0, 0, 1.0, "none: the systems never differ in what they get right")
    if n < EXACT_BELOW:
        tail = sum(math.comb(n, count) for count in range(min(only_first, only_second) + 1)) / 2**n
        return McNemar(only_first, only_second, min(1.0, 2 * tail), "exact binomial")
    chi_square = max(abs(only_first - only_second) - 1, 0) ** 2 / n
    # The upper tail of chi-square with one degree of freedom.
    p = math.erfc(math.sqrt(chi_square / 2))
    return McNemar(only_first, only_second, p, "chi-square, continuity corrected")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjustment: reject where the adjusted value is below alpha, and alpha holds for all together."""
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
    """The difference of any two functions of the same rows, by resampling clusters of rows."""
    check_level(level)
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


def compare_systems(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[Prediction]],
    score: str = "accuracy",
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> list[Comparison]:
    """Every pair of systems on the same examples, in the order given; see `Comparison`."""
    check_level(level)
    score_named(score)
    if len(systems) < 2:
        raise ConfigError(f"a comparison needs at least two systems: got {len(systems)}")
    outcomes = {name: match(examples, predictions) for name, predictions in systems.items()}
    pairs = list(combinations(systems, 2))
    differences = [_compare(outcomes[a], outcomes[b], score, seed, level, resamples) for a, b in pairs]
    tests = [_mcnemar_of(outcomes[a], outcomes[b]) for a, b in pairs]
    defined = [at for at, difference in enumerate(differences) if difference.p is not None]
    adjusted = dict(zip(defined, holm([differences[at].p or 0.0 for at in defined]), strict=True))
    return [
        Comparison(
            first,
            second,
            score,
            differences[at].interval,
            differences[at].p,
            adjusted.get(at),
            tests[at],
            p_holm,
        )
        for at, ((first, second), p_holm) in enumerate(
            zip(pairs, holm([test.p for test in tests]), strict=True)
        )
    ]


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

    # Both systems' columns side by side: one draw of clusters scores them on the same examples.
    columns = np.hstack(sheets)
    n = count_of(score.block, sheets[0].sum(axis=0))
    kinds, multiplicity = kinds_of_clusters(columns, first.clusters)
    value = float(difference(columns.sum(axis=0)))
    if math.isnan(value):
        return Difference(undefined(remark(name, sheets[0].sum(axis=0).reshape(2, 3)), n, level), None)
    if multiplicity.sum() == 1:
        return Difference(Interval(value, None, None, level, n, ONE_CLUSTER), None)
    return _difference(value, resample_totals(kinds, multiplicity, difference, resamples, seed), n, level)


def _difference(value: float, replicates: FloatArray, n: int, level: float) -> Difference:
    """The interval, and twice the smaller share of resamples on either side of no difference.

    One is added to count and total, so that p is never 0: it cannot be smaller than the resamples can show.
    """
    interval = percentile_interval(value, replicates, n, level)
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
