"""Comparison of runs: paired by item, families of items are clusters, Holm-corrected over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os.path import commonpath

import numpy as np

from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.score import ItemAnswers, item_answers
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.stats import Comparisons, Interval, PairedDifference, cluster_codes, paired_difference


@dataclass(frozen=True, slots=True)
class BenchComparison(Result):
    """All pairs of some runs, and the differences of each pair by category."""

    pairs: Comparisons
    categories: tuple[Mapping[str, Interval], ...] = field(repr=False)

    def as_dict(self) -> dict[str, object]:
        """Return every pair."""
        return {
            "comparisons": [
                pair.as_dict() | {"categories": {name: gap.as_dict() for name, gap in gaps.items()}}
                for pair, gaps in zip(self.pairs, self.categories, strict=True)
            ]
        }

    def summary(self) -> Summary:
        """Return one row per pair of runs."""
        return self.pairs.summary()


def compare_bench(runs: Sequence[BenchRun]) -> BenchComparison:
    """Compare runs in pairs: accuracy per item, a family of items is a cluster; also by category."""
    pairs = compare_runs(runs)
    categories = []
    for one, other in combinations([_asked(run) for run in runs], 2):
        names = dict.fromkeys(one[item].category for item in one if item in other)
        categories.append({name: _compare(one, other, category=name).difference for name in names})
    return BenchComparison(pairs, tuple(categories))


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


def compare_runs(runs: Sequence[BenchRun]) -> Comparisons:
    """Compare every pair of runs on the items both answered."""
    check_same(runs)
    if len(runs) < 2:
        raise ConfigError("a comparison needs two runs: give two folders, or one that holds two runs")
    asked = dict(zip(names_of(runs), map(_asked, runs), strict=True))
    return Comparisons.adjusted(
        _compare(asked[one], asked[other], (one, other)) for one, other in combinations(asked, 2)
    )


def _asked(run: BenchRun) -> dict[str, ItemAnswers]:
    return {each.item: each for each in item_answers([row for row in run.rows if not row.error])}


def _compare(
    one: Mapping[str, ItemAnswers], other: Mapping[str, ItemAnswers],
    names: tuple[str, str] = ("first", "second"), category: str = "",
) -> PairedDifference:  # fmt: skip
    shared = [item for item in one if item in other and category in ("", one[item].category)]
    if not shared:
        raise DataError("the runs have no item in common: compare runs of the same items")
    first, second = (np.array([run[item].right for item in shared]) for run in (one, other))
    families = cluster_codes([one[item].family for item in shared])
    return paired_difference(first, second, families, names=names, metric="accuracy")
