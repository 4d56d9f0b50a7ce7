"""Verdicts on drafts: kept, to be revised or dropped, each with its reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deadpan.bench.hardening.panel import Panel
from deadpan.bench.hardening.response_theory import ItemParameters
from deadpan.bench.items.audit import Giveaway
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.items.validation import SetProblem
from deadpan.bench.scores.agreement import ItemAgreement

State = Literal["kept", "revise", "dropped"]
Reasons = dict[str, list[tuple[State, str]]]
LEAST_MODELS = 3
"""The number of models that must all be right before an item counts as too easy."""
SOUND = 0.7
"""The share of people who must choose the keyed answer."""
HOPELESS = 0.5
FLAT = 0.5
"""An item whose discrimination is certainly below this separates nobody."""


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """One draft: its verdict, the reasons, and what panel and people did with it."""

    item: str
    state: State
    reasons: tuple[str, ...]
    panel_right: float | None
    people: int
    people_right: float | None
    parameters: ItemParameters | None


def judge_drafts(
    items: ItemSet,
    problems: Sequence[SetProblem],
    giveaways: Sequence[Giveaway],
    panel: Panel,
    agreement: Sequence[ItemAgreement],
) -> list[DraftVerdict]:
    """Return a verdict per draft: the worst that any reason asks for; kept if there is none."""
    reasons: Reasons = defaultdict(list)
    pairs: dict[str, list[str]] = defaultdict(list)
    for item in items.items:
        pairs[item.pair_id].append(item.id)
    for problem in problems:
        for id in pairs.get(problem.item, [problem.item]) if problem.item else []:
            reasons[id].append(("revise", f"{problem.what}: {problem.cure}"))
    for giveaway in giveaways:
        reasons[giveaway.item].append(("revise", f"audit: {giveaway.what}"))
    _by_panel(items, panel, reasons)
    answered = {each.item: each for each in agreement if each.n}
    for each in answered.values():
        reasons[each.item] += _by_people(each)
    fitted = panel.parameters()
    return [
        _verdict(item.id, reasons[item.id], column, answered, fitted.get(item.id))
        for item, column in zip(items.items, _columns(items, panel), strict=True)
    ]


def _columns(items: ItemSet, panel: Panel) -> Iterable[list[float]]:
    """Return the responses of the models to each item."""
    for at in range(len(items.items)):
        values = [float(panel.responses[model, at]) for model in panel.models]
        yield [value for value in values if not np.isnan(value)]


def _by_panel(items: ItemSet, panel: Panel, reasons: Reasons) -> None:
    """Add what models show; discriminations only if the panel can show them."""
    fitted, mute = panel.parameters(), panel.shows_nothing
    for at, (item, column) in enumerate(zip(items.items, _columns(items, panel), strict=True)):
        if len(column) >= LEAST_MODELS and min(column) == 1.0:
            reasons[item.id].append(("dropped", f"too easy: all {len(column)} models are always right"))
        if mute:
            continue
        apart = fitted[item.id].discrimination
        if _backwards(panel, at):
            reasons[item.id].append(("revise", "the better respondents miss it more often: check the key"))
        elif apart.high is not None and apart.high < FLAT:
            reasons[item.id].append(("revise", f"separates nobody: discrimination at most {apart.high:.2f}"))


def _backwards(panel: Panel, at: int) -> bool:
    """Return whether an item goes down with the rest of the set: by its correlation, at p < 0.01."""
    column = panel.responses[:, at]
    rest = np.nanmean(np.delete(panel.responses, at, axis=1), axis=1)
    both = ~np.isnan(column) & ~np.isnan(rest)
    n = int(both.sum())
    if n < 4 or column[both].std() == 0 or rest[both].std() == 0:
        return False
    r = float(np.corrcoef(column[both], rest[both])[0, 1])
    return float(np.arctanh(np.clip(r, -0.999999, 0.999999))) * float(np.sqrt(n - 3)) < -2.326


def _by_people(each: ItemAgreement) -> list[tuple[State, str]]:
    if each.right >= SOUND:
        return []
    shown = f"{each.right:.0%} of {each.n} people chose the key"
    if each.agreed >= SOUND:
        return [("revise", f"{shown}, {each.agreed:.0%} another option: check the key")]
    if each.right < HOPELESS:
        return [("dropped", f"{shown}, and they do not agree on another")]
    return [("revise", f"{shown}, {SOUND:.0%} are needed")]


def _verdict(
    id: str,
    found: Sequence[tuple[State, str]],
    column: Sequence[float],
    answered: Mapping[str, ItemAgreement],
    fitted: ItemParameters | None,
) -> DraftVerdict:
    states = {state for state, _ in found}
    state: State = "dropped" if "dropped" in states else "revise" if "revise" in states else "kept"
    people = answered.get(id)
    return DraftVerdict(
        id,
        state,
        tuple(why for _, why in found),
        sum(column) / len(column) if column else None,
        people.n if people else 0,
        people.right if people else None,
        fitted,
    )
