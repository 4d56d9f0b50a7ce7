"""Which models differ: paired by question, families resampled whole, Holm over all the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from os.path import commonpath
from typing import Any

import numpy as np

from deadpan.bench.folder import RunFolder
from deadpan.bench.scores import Answered, answered, kind_of
from deadpan.errors import ConfigError, DataError
from deadpan.fields import encode
from deadpan.stats import LEVEL, Interval, McNemar, cluster_codes, holm, mcnemar
from deadpan.stats.bootstrap import ONE_CLUSTER, kinds_of_clusters, resample_totals
from deadpan.stats.interval import FloatArray, IntArray, percentile_interval

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two models on the same questions: first minus second. `p_holm` is adjusted over the whole call."""

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
    def differ(self) -> bool:
        return self.p_holm < ALPHA

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {**encode(self), "differ": self.differ}


def check_same(runs: Sequence[RunFolder]) -> None:
    """Runs can be compared only on one set and with one prompt."""
    if not runs:
        raise ConfigError("no runs to compare")
    one = runs[0].plan
    for run in runs[1:]:
        if run.plan.set_hash != one.set_hash:
            raise DataError(
                f"{run.path} answers {run.plan.set} ({run.plan.set_hash[:12]}), {runs[0].path} answers "
                f"{one.set} ({one.set_hash[:12]}): compare runs of one set version"
            )
    prompts = {run.plan.prompt: run for run in runs if kind_of(run.plan.model) != "human"}
    if len(prompts) > 1:
        (first, run), (second, other) = list(prompts.items())[:2]
        raise DataError(
            f"{run.path} was asked by prompt {first}, {other.path} by {second}: compare runs of one prompt"
        )


def names_of(runs: Sequence[RunFolder]) -> list[str]:
    """The runs by model; by folder, where one model was run more than once."""
    names = [run.plan.model for run in runs]
    if len(set(names)) == len(names):
        return names
    paths = [run.path.resolve() for run in runs]
    above = commonpath(paths)
    return [path.relative_to(above).as_posix() for path in paths]


def compare_runs(runs: Sequence[RunFolder], seed: int = 0) -> list[Pairing]:
    """Every pair of runs, on the questions both answered."""
    check_same(runs)
    if len(runs) < 2:
        raise ConfigError("a comparison needs two runs: give two folders, or one with two runs in it")
    names = names_of(runs)
    asked = [
        {each.item: each for each in answered([row for row in run.rows if not row.error])} for run in runs
    ]
    found = []
    for one, other in combinations(range(len(runs)), 2):
        found.append((names[one], names[other], *_paired(asked[one], asked[other], seed)))
    adjusted = holm([difference.p for _, _, _, difference, _, _ in found])
    tests = holm([test.p for *_, test, _ in found])
    return [
        Pairing(first, second, n, difference.interval, difference.p, p, test, p_test, categories)
        for (first, second, n, difference, test, categories), p, p_test in zip(
            found, adjusted, tests, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Gap:
    interval: Interval
    p: float


def _paired(
    one: dict[str, Answered], other: dict[str, Answered], seed: int
) -> tuple[int, _Gap, McNemar, dict[str, Interval]]:
    shared = [item for item in one if item in other]
    if not shared:
        raise DataError("the runs have no question in common")
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


def _gap(members: Sequence[tuple[Answered, Answered]], seed: int) -> _Gap:
    """s_A - s_B by question. The interval resamples families; p is Student's t on family sums.

    Not the bootstrap's own p: that cannot be smaller than its resamples show, and Holm over the hundred
    pairs of a long leaderboard would then never find anything.
    """
    gaps = np.array([a.right - b.right for a, b in members])
    columns: FloatArray = np.column_stack([gaps, np.ones(len(gaps))])
    value = float(gaps.mean())
    codes = cluster_codes([a.family for a, _ in members])
    kinds, multiplicity = kinds_of_clusters(columns, codes)
    if multiplicity.sum() == 1:
        return _Gap(Interval(value, None, None, LEVEL, len(gaps), ONE_CLUSTER), 1.0)
    replicates = resample_totals(kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], seed=seed)
    return _Gap(percentile_interval(value, replicates, len(gaps)), clustered_p(gaps, codes))


def clustered_p(gaps: FloatArray, codes: IntArray) -> float:
    """Two-sided p of no mean difference, its standard error clustered on families (Miller 2024)."""
    from scipy.special import stdtr

    value, clusters = float(gaps.mean()), int(codes.max()) + 1
    sums = np.bincount(codes, weights=gaps - value)
    error = float(np.sqrt((sums**2).sum() * clusters / (clusters - 1))) / len(gaps)
    if error == 0:  # every question has the same gap: none at all, or one that never fails to appear
        return 1.0 if value == 0 else float(2.0 ** (1 - clusters))
    return float(2 * stdtr(clusters - 1, -abs(value) / error))
