"""What would let a model cheat: probes against chance, items that give themselves away."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from deadpan.bench.items import CHANCE, OPTIONS, family
from deadpan.bench.probes import RULES, options_only, overlap, rule_credit, utterance_only
from deadpan.bench.sets import ItemSet
from deadpan.records import Item
from deadpan.stats import LEVEL, Interval, bootstrap_interval
from deadpan.stats.interval import FloatArray

if TYPE_CHECKING:
    from deadpan.figures import Figure

MARGIN = 0.05
"""How far from chance the two classifiers of a sound set may be."""
POWER = 0.8
LONGER, SHARED_MORE = 1.25, 0.5
CLASSIFIERS = ("options alone", "options, utterance and question")


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to guess, how often it is right, and whether that is too often."""

    name: str
    accuracy: Interval
    passed: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Giveaway:
    """An item whose answer stands out by its looks."""

    item: str
    what: str


@dataclass(frozen=True, slots=True)
class Audit:
    """All probes, all items that fail, and how small an effect this set could have shown."""

    set: str
    n: int
    families: int
    smallest_effect: float
    probes: tuple[Probe, ...]
    failed_items: tuple[Giveaway, ...]

    @property
    def passed(self) -> bool:
        return all(probe.passed for probe in self.probes) and not self.failed_items

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "passed": self.passed}


def audit(items: ItemSet, seed: int = 0) -> Audit:
    """Run every probe. Intervals resample whole families."""
    groups = [family(item) for item in items.items]
    probes = []
    for name, credit in (
        (CLASSIFIERS[0], options_only(items.items, seed)),
        (CLASSIFIERS[1], utterance_only(items.items, seed)),
    ):
        probes.append(_classifier(name, _accuracy(credit, groups, seed)))
    for name, rule in RULES.items():
        probes.append(_rule(name, _accuracy(rule_credit(items.items, rule), groups, seed)))
    failed = [giveaway for item in items.items for giveaway in giveaways(item)]
    effect = smallest_effect(len(items.items))
    return Audit(items.label, len(groups), len(set(groups)), effect, tuple(probes), tuple(failed))


def _accuracy(credit: FloatArray, groups: Sequence[str], seed: int) -> Interval:
    return bootstrap_interval(lambda rows: float(credit[rows].mean()), groups, seed=seed)


def _classifier(name: str, accuracy: Interval) -> Probe:
    """Within the margin of chance, and chance inside the interval."""
    off = (accuracy.value or 0.0) - CHANCE
    inside = accuracy.low is None or accuracy.high is None or accuracy.low <= CHANCE <= accuracy.high
    if not inside:
        side = "above" if off > 0 else "below"
        return Probe(name, accuracy, False, f"{side} chance beyond what luck explains")
    if abs(off) > MARGIN:
        return Probe(
            name, accuracy, False, f"{100 * off:+.1f} points from chance, {100 * MARGIN:.0f} allowed"
        )
    return Probe(name, accuracy, True, "at chance")


def _rule(name: str, accuracy: Interval) -> Probe:
    """A rule of thumb fails a set only where it beats chance for sure."""
    above = accuracy.low is not None and accuracy.low > CHANCE
    return Probe(name, accuracy, not above, "beats chance" if above else "does not beat chance")


def giveaways(item: Item) -> list[Giveaway]:
    """Why an item's answer can be told by its looks; empty for a sound one."""
    found = []
    lengths = [len(option) for option in item.options]
    rivals = sorted(length for place, length in enumerate(lengths) if place != item.answer)
    if lengths[item.answer] > LONGER * rivals[-1]:
        found.append(Giveaway(item.id, "the answer is much longer than every distractor"))
    if lengths[item.answer] * LONGER < rivals[0]:
        found.append(Giveaway(item.id, "the answer is much shorter than every distractor"))
    shares = overlap(item)
    others = [share for place, share in enumerate(shares) if place != item.answer]
    if shares[item.answer] >= max(others) + SHARED_MORE:
        found.append(Giveaway(item.id, "only the answer repeats the words of the text"))
    telling = [_tells(option) for option in item.options]
    if telling[item.answer] and sum(telling) == 1:
        found.append(Giveaway(item.id, "only the answer has a word that names sarcasm"))
    if not telling[item.answer] and sum(telling) == OPTIONS - 1:
        found.append(Giveaway(item.id, "all but the answer have a word that names sarcasm"))
    return found


NAMING = re.compile(r"sarcas|ironic|irony|mocking|비꼬|비꼰|반어|빈정")
"""Words that say outright what the question is about."""


def _tells(option: str) -> bool:
    return bool(NAMING.search(option.lower()))


def smallest_effect(n: int, level: float = LEVEL) -> float:
    """The smallest rise above chance that a probe would show with 80 % power on n items."""
    z = NormalDist().inv_cdf((1 + level) / 2) + NormalDist().inv_cdf(POWER)
    return z * math.sqrt(CHANCE * (1 - CHANCE) / n)


def audit_figure(result: Audit) -> Figure:
    """The probes as whiskers around chance."""
    from deadpan.figures import whiskers

    failed = [probe.name for probe in result.probes if not probe.passed]
    title = (
        f"{result.set}: {len(failed)} of {len(result.probes)} ways to guess beat chance"
        if failed
        else f"{result.set}: none of {len(result.probes)} ways to guess without reading beats chance"
    )
    scores = {probe.name: probe.accuracy for probe in result.probes}
    return whiskers(title, scores, unit="share of answers guessed", mark=("chance", CHANCE))


def answer_places(items: Sequence[Item]) -> list[int]:
    """How often each letter is the answer."""
    return [int(count) for count in np.bincount([item.answer for item in items], minlength=OPTIONS)]
