"""Comparison of runs: paired by item, clustered on families, Holm-corrected over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os.path import commonpath
from pathlib import Path
from typing import Any

import numpy as np

from deadpan.bench.runs.folder import BenchRun, find_runs
from deadpan.bench.scores.score import ItemAnswers, item_answers
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.results import Result
from deadpan.stats import LEVEL, Interval, McNemar, cluster_codes, holm, mcnemar
from deadpan.stats.bootstrap import ONE_CLUSTER, kinds_of_clusters, resample_totals
from deadpan.stats.interval import FloatArray, IntArray, percentile_interval
from deadpan.validation import encode

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs on the same items: first minus second. `p_holm` is corrected over all pairs of the call."""

    first: str
    second: str
    n: int
    difference: Interval
    p: float
    p_holm: float
    mcnemar: McNemar
    mcnemar_p_holm: float
    categories: dict[str, Interval]

    @property
    def different(self) -> bool:
        """True if the runs are significantly different."""
        return self.p_holm < ALPHA

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        return {**encode(self), "differ": self.different}


@dataclass(frozen=True, slots=True)
class BenchComparison(Result):
    """All pairs of some runs."""

    pairs: tuple[RunComparison, ...] = field(repr=False)

    def __repr__(self) -> str:
        different = sum(pair.different for pair in self.pairs)
        return f"BenchComparison({len(self.pairs)} pairs, {different} different)"

    def as_dict(self) -> dict[str, object]:
        """Return every pair."""
        return {"comparisons": [pair.as_dict() for pair in self.pairs]}

    def summary(self) -> Summary:
        """Return one row per pair of runs."""
        rows: list[tuple[Cell, ...]] = [
            (
                f"{pair.first} - {pair.second}",
                pair.difference,
                _p(pair.p_holm),
                _p(pair.mcnemar_p_holm),
                f"{'' if pair.different else 'not '}significantly different",
            )
            for pair in self.pairs
        ]
        columns = ("runs", "difference", "p (Holm)", "McNemar p", "verdict")
        return Summary((Table(columns, tuple(rows)),))


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def compare_bench(folders: Sequence[Path], *, seed: int = 0) -> BenchComparison:
    """Compare the runs in some folders in pairs: accuracy per item, and McNemar's test on Maj@k."""
    return BenchComparison(tuple(compare_runs(find_runs(folders), seed)))


def check_same(runs: Sequence[BenchRun]) -> None:
    """Raise unless all runs answer one version of a set with one version of each prompt."""
    if not runs:
        raise ConfigError("no runs to compare")
    one = runs[0].plan
    for run in runs[1:]:
        if run.plan.set_hash != one.set_hash:
            raise DataError(
                f"{run.path} answers {run.plan.set} ({run.plan.set_hash[:12]}), {runs[0].path} answers "
                f"{one.set} ({one.set_hash[:12]}): compare runs of one set version"
            )
    prompts: dict[str, BenchRun] = {}
    for run in runs:
        other = prompts.setdefault(run.plan.prompt.partition("/")[0], run)
        if run.plan.prompt != other.plan.prompt:
            raise DataError(
                f"{other.path} used prompt {other.plan.prompt}, {run.path} used {run.plan.prompt}: "
                "compare runs of one version of a prompt"
            )


def names_of(runs: Sequence[BenchRun]) -> list[str]:
    """Return a name per run: its model, or its folder where a model was run more than once."""
    names = [run.plan.system for run in runs]
    if len(set(names)) == len(names):
        return names
    paths = [run.path.resolve() for run in runs]
    above = commonpath(paths)
    return [path.relative_to(above).as_posix() for path in paths]


def compare_runs(runs: Sequence[BenchRun], seed: int = 0) -> list[RunComparison]:
    """Compare every pair of runs on the items both answered."""
    check_same(runs)
    if len(runs) < 2:
        raise ConfigError("a comparison needs two runs: give two folders, or one that holds two runs")
    names = names_of(runs)
    asked = [
        {each.item: each for each in item_answers([row for row in run.rows if not row.error])} for run in runs
    ]
    pairs = []
    for one, other in combinations(range(len(runs)), 2):
        pairs.append((names[one], names[other], *_paired(asked[one], asked[other], seed)))
    adjusted = holm([difference.p for _, _, _, difference, _, _ in pairs])
    tests = holm([test.p for *_, test, _ in pairs])
    return [
        RunComparison(first, second, n, difference.interval, difference.p, p, test, p_test, categories)
        for (first, second, n, difference, test, categories), p, p_test in zip(
            pairs, adjusted, tests, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Gap:
    interval: Interval
    p: float


def _paired(
    one: dict[str, ItemAnswers], other: dict[str, ItemAnswers], seed: int
) -> tuple[int, _Gap, McNemar, dict[str, Interval]]:
    shared = [item for item in one if item in other]
    if not shared:
        raise DataError("the runs have no item in common: compare runs of the same items")
    gap = _gap([(one[item], other[item]) for item in shared], seed)
    majority = [
        (one[item].plurality == one[item].answer, other[item].plurality == other[item].answer)
        for item in shared
    ]
    test = mcnemar(sum(a and not b for a, b in majority), sum(b and not a for a, b in majority))
    categories = {}
    for name in dict.fromkeys(one[item].category for item in shared):
        members = [(one[item], other[item]) for item in shared if one[item].category == name]
        categories[name] = _gap(members, seed).interval
    return len(shared), gap, test, categories


def _gap(members: Sequence[tuple[ItemAnswers, ItemAnswers]], seed: int) -> _Gap:
    """Return the mean difference per item. The interval resamples families; p is a t-test on family sums.

    The bootstrap's own p cannot be smaller than one over the number of resamples: with Holm's correction over
    the hundred pairs of a long leaderboard it would never be significant.
    """
    gaps = np.array([a.right - b.right for a, b in members])
    columns: FloatArray = np.column_stack([gaps, np.ones(len(gaps))])
    value = float(gaps.mean())
    codes = cluster_codes([a.family for a, _ in members])
    kinds, multiplicity = kinds_of_clusters(columns, codes)
    if multiplicity.sum() == 1:
        return _Gap(Interval(value, None, None, LEVEL, len(gaps), ONE_CLUSTER), 1.0)
    replicates = resample_totals(kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], seed=seed)
    families = int(multiplicity.sum())
    interval = percentile_interval(value, replicates, len(gaps), clusters=families, limits=(-1.0, 1.0))
    return _Gap(interval, clustered_p(gaps, codes))


def clustered_p(gaps: FloatArray, codes: IntArray) -> float:
    """Return the two-sided p of no mean difference, errors clustered on families (Miller 2024)."""
    from scipy.special import stdtr

    value, clusters = float(gaps.mean()), int(codes.max()) + 1
    sums = np.bincount(codes, weights=gaps - value)
    error = float(np.sqrt((sums**2).sum() * clusters / (clusters - 1))) / len(gaps)
    if error == 0:  # every item has the same difference: exactly zero, or a constant
        return 1.0 if value == 0 else float(2.0 ** (1 - clusters))
    return float(2 * stdtr(clusters - 1, -abs(value) / error))
