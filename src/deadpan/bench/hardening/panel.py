"""The panel: who answered the drafts (models, baselines, people), and what such a panel can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deadpan.bench.hardening.response_theory import ItemParameters, ResponseModel, fit_responses
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.comparison import check_same, names_of
from deadpan.bench.scores.score import item_answers, kind_of, score_run
from deadpan.errors import DataError
from deadpan.stats import Interval, wilson
from deadpan.stats.interval import FloatArray

LEAST_RESPONDENTS = 10
"""Models and people together, baselines not counted: fewer cannot show how an item discriminates."""
LEAST_LEARNED = 0.2
"""The share of the prior's variance of the discrimination that must be gone at the median item."""


@dataclass(frozen=True, slots=True)
class Panelist:
    """One respondent: a model, a baseline or a person, with the share right where it can be scored."""

    name: str
    kind: str
    right: float
    answered: int
    above_chance: bool
    accuracy: Interval | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """The respondents, their responses (one row each, NaN where there is none), and the fitted items."""

    panelists: tuple[Panelist, ...]
    responses: FloatArray = field(repr=False)
    fit: ResponseModel | None = field(repr=False)

    @property
    def models(self) -> list[int]:
        return [at for at, each in enumerate(self.panelists) if each.kind == "model"]

    @property
    def shows_nothing(self) -> str:
        """The reason why the panel says nothing about how items discriminate; empty if it does."""
        judges = [each for each in self.panelists if each.kind != "baseline"]
        if self.fit is None:
            return "nobody has answered the drafts"
        if len(judges) < LEAST_RESPONDENTS:
            return f"{len(judges)} models and people, fewer than {LEAST_RESPONDENTS}"
        if not any(each.above_chance for each in judges):
            return "no model and no person is significantly above chance"
        learned = float(np.median([each.learned_discrimination for each in self.fit.items]))
        if learned < LEAST_LEARNED:
            return f"its responses remove {100 * learned:.0f} % of the uncertainty at the median item"
        return ""

    def parameters(self) -> dict[str, ItemParameters]:
        """Return the fitted items by their ids."""
        return {each.item: each for each in self.fit.items} if self.fit else {}


def gather_panel(
    items: ItemSet, runs: Sequence[BenchRun], people: Mapping[str, Mapping[str, int]], seed: int = 0
) -> Panel:
    """Return the panel of runs and of people's answers (per item: person and chosen option).

    A run is one respondent however often it was asked; each person of a human run is one.
    """
    check_panel(items, runs)
    ids = [item.id for item in items.items]
    guessing = [1 / len(item.options) for item in items.items]
    chance = sum(guessing) / len(ids)
    panelists, rows = [], []
    for name, run in zip(names_of(runs) if runs else [], runs, strict=True):
        for one, answered, accuracy in _respondents(name, run, seed):
            panelists.append(_panelist(one, kind_of(run.plan.model), answered, accuracy, chance))
            rows.append([answered.get(item, np.nan) for item in ids])
    key = {item.id: item.answer for item in items.items}
    for person in sorted({name for by_person in people.values() for name in by_person}):
        given = {
            item: float(by_person[person] == key[item])
            for item, by_person in people.items()
            if person in by_person
        }
        panelists.append(_panelist(f"person {person}", "human", given, None, chance))
        rows.append([given.get(item, np.nan) for item in ids])
    responses = np.array(rows, dtype=np.float64).reshape(len(rows), len(ids))
    names = [each.name for each in panelists]
    fit = fit_responses(responses, ids, names, guessing=guessing) if rows else None
    return Panel(tuple(panelists), responses, fit)


def check_panel(items: ItemSet, runs: Sequence[BenchRun]) -> None:
    """Raise unless every run was asked these drafts, whole, and with one prompt."""
    if runs:
        check_same(runs)
    for run in runs:
        if run.plan.set_hash != items.hash:
            raise DataError(
                f"{run.path} answers {run.plan.set} ({run.plan.set_hash[:12]}), not these drafts "
                f"({items.hash[:12]}): run them with `deadpan bench run --set DRAFTS`"
            )
        if not any(not row.error for row in run.rows):
            raise DataError(f"{run.path}: no answered row: repeat the `deadpan bench run` command")


def _respondents(name: str, run: BenchRun, seed: int) -> list[tuple[str, dict[str, float], Interval | None]]:
    """Return who answered in a run, with the share right per item: the model, or each person."""
    rows = [row for row in run.rows if not row.error]
    if kind_of(run.plan.model) != "human":
        right = {each.item: each.right for each in item_answers(rows)}
        return [(name, right, score_run(run, seed).avg)]
    people: dict[int, dict[str, float]] = {}
    for row in rows:
        people.setdefault(row.run, {})[row.item] = float(row.correct)
    return [(f"person {number}", answers, None) for number, answers in sorted(people.items())]


def _panelist(
    name: str, kind: str, answered: Mapping[str, float], accuracy: Interval | None, chance: float
) -> Panelist:
    right = sum(answered.values()) / len(answered)
    known = accuracy or wilson(round(sum(answered.values())), len(answered))
    above = known.low is not None and known.low > chance
    return Panelist(name, kind, right, len(answered), above, accuracy)
