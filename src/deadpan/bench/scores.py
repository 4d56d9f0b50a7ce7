"""What a run comes to. The question is the unit, not the run; minimal pairs are one family.

s_i is the share of runs in which question i was answered rightly. What was unread, refused or cut off is
not right and stays in the denominator; how often that happened is shown beside the score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from deadpan.bench.folder import RunFolder
from deadpan.bench.items import CATEGORIES, CHANCE
from deadpan.bench.rows import Row
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.stats import Interval, wilson
from deadpan.stats.bootstrap import kinds_of_clusters, totals_interval
from deadpan.stats.clusters import cluster_codes
from deadpan.stats.interval import FloatArray, undefined


@dataclass(frozen=True, slots=True)
class Answered:
    """One question over its runs."""

    item: str
    family: str
    category: str
    language: str
    answer: str
    predictions: tuple[str, ...]
    right: float

    @property
    def plurality(self) -> str:
        """The letter most runs gave; empty where two letters tie or nothing was read."""
        counts = Counter(letter for letter in self.predictions if letter).most_common(2)
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return ""
        return counts[0][0]

    @property
    def tied(self) -> bool:
        """Several letters share the first place: not right, and flagged."""
        return not self.plurality and any(self.predictions)


@dataclass(frozen=True, slots=True)
class Scores:
    """A model's row of the leaderboard. Rates are shares of rows, `n` questions."""

    model: str
    kind: str
    set: str
    set_hash: str
    visibility: str
    complete: bool
    whole_set: bool
    n: int
    families: int
    runs: int
    rows: int
    avg: Interval
    maj: Interval
    ties: int
    pairs: Interval
    consistency: Interval
    letter_consistency: Interval
    categories: dict[str, Interval]
    languages: dict[str, Interval]
    unread: float
    truncated: float
    refused: float
    escalated: float
    retries: int
    errors: int
    cost: float | None
    seconds: float
    returned: tuple[str, ...]
    dates: tuple[str, str]
    prompt: str
    chance: float = CHANCE

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        plain: dict[str, Any] = encode(self)
        return plain


def answered(rows: Sequence[Row]) -> list[Answered]:
    """The questions of a run with their answers over runs, in the set's order."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row.item].append(row)
    found = []
    for item, same in grouped.items():
        same.sort(key=lambda row: row.run)
        first = same[0]
        right = sum(row.correct for row in same) / len(same)
        letters = tuple(row.prediction for row in same)
        found.append(
            Answered(item, first.family, first.category, first.language, first.answer, letters, right)
        )
    return found


def score_run(run: RunFolder, seed: int = 0) -> Scores:
    """Every score of a run with its interval. An incomplete run is scored on what is there, and says so."""
    rows = [row for row in run.rows if not row.error]
    if not rows:
        raise DataError(f"{run.path}: no answered row to score; run the same `deadpan bench run` to go on")
    asked = answered(rows)
    count = len(run.rows)
    dates = sorted(row.at[:10] for row in rows if row.at) or [""]
    costs = [row.cost for row in rows]
    mean = _over(asked, seed)
    return Scores(
        model=run.plan.model,
        kind=kind_of(run.plan.model),
        set=run.plan.set,
        set_hash=run.plan.set_hash,
        visibility=run.plan.visibility,
        complete=run.complete,
        whole_set=run.plan.whole_set,
        n=len(asked),
        families=len({each.family for each in asked}),
        runs=run.plan.runs,
        rows=len(rows),
        avg=mean(lambda each: each.right),
        maj=mean(lambda each: float(each.plurality == each.answer)),
        ties=sum(each.tied for each in asked),
        pairs=pair_accuracy(rows, seed),
        consistency=mean(lambda each: float(each.right in (0.0, 1.0))),
        letter_consistency=mean(
            lambda each: float(len(set(each.predictions)) == 1 and all(each.predictions))
        ),
        categories={
            name: _over([each for each in asked if each.category == name], seed)(lambda each: each.right)
            for name in CATEGORIES
        },
        languages={
            name: _over([each for each in asked if each.language == name], seed)(lambda each: each.right)
            for name in sorted({each.language for each in asked})
        },
        unread=sum(row.unread for row in rows) / count,
        truncated=sum(row.truncated for row in rows) / count,
        refused=sum(row.refused for row in rows) / count,
        escalated=sum(row.escalated > 0 for row in rows) / count,
        retries=sum(row.retries for row in run.rows),
        errors=run.plan.total - len(rows) if kind_of(run.plan.model) != "human" else 0,
        cost=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        seconds=median(row.seconds for row in rows),
        returned=tuple(sorted({row.returned for row in rows if row.returned})),
        dates=(dates[0], dates[-1]),
        prompt=run.plan.prompt,
    )


def kind_of(model: str) -> str:
    """model, baseline or human."""
    return "human" if model == "human" else "baseline" if model.startswith("baseline/") else "model"


def _over(asked: Sequence[Answered], seed: int) -> Callable[[Callable[[Answered], float]], Interval]:
    """The mean of a number over questions, families resampled whole."""
    groups = [each.family for each in asked]

    def mean(of: Callable[[Answered], float]) -> Interval:
        return mean_interval([of(each) for each in asked], groups, seed)

    return mean


def mean_interval(values: Sequence[float], groups: Sequence[str], seed: int = 0) -> Interval:
    """A mean with its interval, clustered on groups.

    Where every value is 0, or every one is 1, resampling shows no spread although there is doubt: Wilson's
    interval on the number of groups stands in.
    """
    if not values:
        return undefined("no items of this kind")
    if len(set(values)) == 1 and values[0] in (0.0, 1.0):
        families = len(set(groups))
        exact = wilson(int(values[0]) * families, families)
        return Interval(exact.value, exact.low, exact.high, exact.level, len(values))
    columns: FloatArray = np.column_stack([np.asarray(values, dtype=np.float64), np.ones(len(values))])
    kinds, multiplicity = kinds_of_clusters(columns, cluster_codes(groups))
    return totals_interval(
        kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], len(values), seed=seed
    )


def pair_accuracy(rows: Sequence[Row], seed: int = 0) -> Interval:
    """Both of a minimal pair right in one run, averaged over runs; the pair is the unit. Chance is 1/36."""
    runs: dict[tuple[str, int], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        runs[row.family, row.run][row.item] = row.correct
    shares: dict[str, list[float]] = defaultdict(list)
    for (name, _), members in runs.items():
        if len(members) == 2:
            shares[name].append(float(all(members.values())))
    values = [sum(each) / len(each) for each in shares.values()]
    return mean_interval(values, list(shares), seed)
