"""Scores of a run. The unit is the item, not the run; a minimal pair is one family.

The score of an item is the share of its runs with the right answer. Unread, refused and cut-off answers are
not right and stay in the denominator; their rates are shown beside the score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from deadpan.bench.items.item import CATEGORIES, CHANCE
from deadpan.bench.runs.answers import kept_form
from deadpan.bench.runs.folder import AnswerRow, BenchRun
from deadpan.errors import DataError
from deadpan.registry import unknown
from deadpan.stats import LEVEL, Interval, wilson
from deadpan.stats.interval import (
    FloatArray,
    cluster_codes,
    percentile_interval,
    totals_interval,
    undefined,
    unique_clusters,
)
from deadpan.validation import encode


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """The answers to one item over all runs."""

    item: str
    family: str
    category: str
    language: str
    answer: str
    predictions: tuple[str, ...]
    right: float

    @property
    def plurality(self) -> str:
        """Return the most frequent answer; empty if there is a tie, or if most answers have no letter."""
        return "" if self.tied or not self.predictions else Counter(self.predictions).most_common(1)[0][0]

    @property
    def tied(self) -> bool:
        """True if several answers are most frequent: not right, and counted."""
        counts = Counter(self.predictions).most_common(2)
        return len(counts) > 1 and counts[0][1] == counts[1][1]


MAJORITY = (
    "Maj@k is the share of items whose most frequent answer over the k runs is right; unread, refused, cut-off and "
    "failed answers vote together for a wrong answer, and a tie is wrong."
)
MOST_UNREAD = 0.02
"""The largest share of cut-off, unread and refused answers with which a run is ranked."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """The scores of one run. Rates are shares of rows; `n` counts items.

    `in_form` is the share of answers in exactly the form that was asked for, None for people; accuracy counts
    every answer that could be read.
    """

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
    """Over items; of people, over people and items, crossed."""
    maj: Interval
    ties: int
    pairs: Interval
    consistency: Interval
    """The paper's rate: items with the same correctness in every run, always right or always wrong."""
    letter_consistency: Interval
    """Items with the same letter in every run."""
    categories: dict[str, Interval]
    languages: dict[str, Interval]
    unread: float
    truncated: float
    refused: float
    escalated: float
    retries: int
    errors: int
    cost: float | None
    seconds: float | None
    """The median of the requests that were answered; None where nothing was requested, or in a batch."""
    returned: tuple[str, ...]
    dates: tuple[str, str]
    prompt: str
    in_form: float | None
    output_tokens: int
    reasoning_tokens: int
    """The part of the output tokens that was reasoning."""
    chance: float
    answers_per_item: tuple[int, int]
    """The fewest and the most answers that an item has: people need not answer every item."""
    shuffle_consistency: Interval | None
    """The share of items with the same option in every order it was shown in; None if there was one order."""

    @property
    def not_ranked(self) -> str:
        """The reason why a model is shown without a rank; empty if it may be ranked."""
        if self.kind != "model" or self.unread + self.truncated + self.refused <= MOST_UNREAD:
            return ""
        rates = ((self.refused, "refused"), (self.truncated, "cut off"), (self.unread, "unread"))
        shares = " and ".join(f"{100 * rate:.1f} % {word}" for rate, word in rates if rate)
        return f"{shares} (at most {100 * MOST_UNREAD:.0f} % may be)"

    def as_dict(self) -> dict[str, Any]:
        """Return all scores as JSON values."""
        values: dict[str, Any] = encode(self)
        return {**values, "not_ranked": self.not_ranked}


def item_answers(rows: Sequence[AnswerRow], runs: int = 0) -> list[ItemAnswers]:
    """Group the rows of a run by item, in the order of the set; of `runs` answers, missing ones have no letter."""
    grouped: dict[str, list[AnswerRow]] = defaultdict(list)
    for row in rows:
        grouped[row.item].append(row)
    answers = []
    for item, of_item in grouped.items():
        of_item.sort(key=lambda row: row.run)
        first = of_item[0]
        right = sum(row.correct for row in of_item) / len(of_item)
        letters = (*(row.prediction for row in of_item), *("",) * (runs - len(of_item)))
        answers.append(ItemAnswers(item, first.family, first.category, first.language, first.answer, letters, right))
    return answers


def score_run(run: BenchRun, seed: int = 0) -> RunScores:
    """Score a run, with intervals. An incomplete run is scored on the rows it has and marked as such."""
    rows = [row for row in run.rows if not row.error]
    if not rows:
        raise DataError(f"{run.path}: no answered row to score: repeat the `deadpan bench run` command to resume it")
    kind = system_kind(run.plan.model)
    asked = item_answers(rows, run.plan.runs if kind != "human" else 0)
    answers = [sum(map(bool, each.predictions)) for each in asked]
    count = len(run.rows)
    dates = sorted(row.at[:10] for row in rows if row.at) or [""]
    costs = [row.cost for row in rows]
    mean = _over(asked, seed)
    return RunScores(
        model=run.plan.system,
        kind=kind,
        set=run.plan.set,
        set_hash=run.plan.set_hash,
        visibility=run.plan.visibility,
        complete=run.complete,
        whole_set=run.plan.whole_set,
        n=len(asked),
        families=len({each.family for each in asked}),
        runs=run.plan.runs,
        rows=len(rows),
        avg=mean(lambda each: each.right) if kind != "human" else crossed_interval(rows, seed),
        answers_per_item=(min(answers), max(answers)),
        maj=mean(lambda each: float(each.plurality == each.answer)),
        ties=sum(each.tied for each in asked),
        pairs=minimal_pair_accuracy(rows, seed),
        consistency=mean(lambda each: float(each.right in (0.0, 1.0))),
        letter_consistency=mean(lambda each: float(len(set(each.predictions)) == 1 and all(each.predictions))),
        categories={
            name: _over([each for each in asked if each.category == name], seed)(lambda each: each.right)
            for name in (CATEGORIES if asked[0].category in CATEGORIES else sorted({each.category for each in asked}))
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
        chance=sum(1 / len(row.order) if row.order else CHANCE for row in rows) / len(rows),
        errors=run.plan.total - len(rows) if kind != "human" else 0,
        cost=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        seconds=median(timed) if (timed := [row.seconds for row in rows if row.seconds and kind == "model"]) else None,
        returned=tuple(sorted({row.returned for row in rows if row.returned})),
        dates=(dates[0], dates[-1]),
        prompt=run.plan.prompt,
        in_form=_in_form(run.plan.model, rows),
        output_tokens=sum(row.output_tokens for row in rows),
        reasoning_tokens=sum(row.reasoning_tokens for row in rows),
        shuffle_consistency=_shuffle_consistency(rows, seed),
    )


def _shuffle_consistency(rows: Sequence[AnswerRow], seed: int) -> Interval | None:
    """Compare the answers to an item over the orders in which its options were shown."""
    orders: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        orders[row.item].add(row.order)
    asked = item_answers([row for row in rows if len(orders[row.item]) > 1])
    if not asked or system_kind(rows[0].model) == "human":
        return None
    return _over(asked, seed)(lambda each: float(len(set(each.predictions)) == 1 and all(each.predictions)))


def _in_form(model: str, rows: Sequence[AnswerRow]) -> float | None:
    """Return the share of answers in the form asked for; rows of older runs are judged by their text."""
    if system_kind(model) == "human":
        return None
    kept = (kept_form(row.text) if row.in_form is None else row.in_form for row in rows)
    return sum(kept) / len(rows)


def system_kind(model: str) -> str:
    """Return model, baseline or human."""
    return "human" if model == "human" else "baseline" if model.startswith("baseline/") else "model"


def _over(asked: Sequence[ItemAnswers], seed: int) -> Callable[[Callable[[ItemAnswers], float]], Interval]:
    """Return a function that averages a number over items, resampling whole families."""
    groups = [each.family for each in asked]

    def mean(of: Callable[[ItemAnswers], float]) -> Interval:
        return mean_interval([of(each) for each in asked], groups, seed)

    return mean


def mean_interval(values: Sequence[float], groups: Sequence[str], seed: int = 0) -> Interval:
    """Return a mean with its interval, clustered on groups.

    If all values are 0, or all are 1, resampling shows no spread; Wilson's interval on the number of groups
    is used instead.
    """
    if not values:
        return undefined("no items of this kind")
    if len(set(values)) == 1 and values[0] in (0.0, 1.0):
        families = len(set(groups))
        exact = wilson(int(values[0]) * families, families)
        return Interval(exact.value, exact.low, exact.high, exact.level, len(values))
    columns: FloatArray = np.column_stack([np.asarray(values, dtype=np.float64), np.ones(len(values))])
    kinds, multiplicity = unique_clusters(columns, cluster_codes(groups))
    return totals_interval(
        kinds, multiplicity, lambda sums: sums[..., 0] / sums[..., 1], len(values), seed=seed,
        limits=(0.0, 1.0),
    )  # fmt: skip


_RESAMPLES = 2000


def crossed_interval(rows: Sequence[AnswerRow], seed: int = 0) -> Interval:
    """Return people's accuracy over items; people and families of items are resampled independently."""
    people = sorted({row.run for row in rows})
    items = {row.item: row.family for row in rows}
    place = {item: at for at, item in enumerate(items)}
    asked, right = np.zeros((len(people), len(items))), np.zeros((len(people), len(items)))
    for row in rows:
        at = people.index(row.run), place[row.item]
        asked[at], right[at] = 1.0, float(row.correct)
    value = float((right.sum(axis=0) / asked.sum(axis=0)).mean())
    codes = cluster_codes(list(items.values()))
    families = int(codes.max()) + 1
    if len(people) == 1 or families == 1:
        what = "person" if len(people) == 1 else "family of items"
        return Interval(value, None, None, LEVEL, len(items), why=f"one {what} only: no interval")
    rng, found = np.random.default_rng(seed), []
    for _ in range(_RESAMPLES):
        persons = rng.multinomial(len(people), [1 / len(people)] * len(people))
        answered = persons @ asked
        weight = rng.multinomial(families, [1 / families] * families)[codes] * (answered > 0)
        if weight.any():
            found.append(float(weight @ ((persons @ right) / np.maximum(answered, 1)) / weight.sum()))
    fewer = min(len(people), families)
    return percentile_interval(value, np.array(found), len(items), clusters=fewer, limits=(0.0, 1.0))


def minimal_pair_accuracy(rows: Sequence[AnswerRow], seed: int = 0) -> Interval:
    """Return the share of minimal pairs with both items right in a run. Chance is the square of an item's."""
    runs: dict[tuple[str, int], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        runs[row.family, row.run][row.item] = row.correct
    shares: dict[str, list[float]] = defaultdict(list)
    for (name, _), members in runs.items():
        if len(members) == 2:
            shares[name].append(float(all(members.values())))
    values = [sum(each) / len(each) for each in shares.values()]
    return mean_interval(values, list(shares), seed)


LANGUAGES = {"en": "English", "ko": "Korean"}


def languages_of(runs: Sequence[BenchRun]) -> list[str]:
    """Return the languages of the items that were asked."""
    return sorted({row.language for run in runs for row in run.rows})


def in_language(run: BenchRun, language: str) -> BenchRun:
    """Return the part of a run that asked items of one language; it is whole if the run is."""
    kept = tuple(row for row in run.rows if row.language == language)
    if not kept:
        raise DataError(f"{run.path}: {unknown('language', language, languages_of([run]))}")
    others = {row.item for row in run.rows if row.language != language}
    items = tuple(item for item in run.plan.items if item not in others)
    size = len(items) + run.plan.set_size - len(run.plan.items)
    expected = None if run.plan.expected is None else len(kept)
    return replace(run, plan=replace(run.plan, items=items, set_size=size, expected=expected), rows=kept)
