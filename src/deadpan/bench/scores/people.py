"""People as one row: how certain their score is, given other people and items, and where they disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.bench.runs.rows import AnswerRow
from deadpan.bench.scores.score import item_answers
from deadpan.stats import LEVEL, Interval
from deadpan.stats.interval import percentile_interval

AGREEMENT = 0.7
"""Items whose key a smaller share of people choose are flagged: key, wording or scene may be wrong."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class PeopleFacts:
    """Facts about people's answers beyond their score."""

    people: int
    over_people: Interval
    """Accuracy; the interval resamples people and families of items, crossed."""
    agreed: float
    """The mean share of the most frequent option of an item: nobody can agree with people more often."""
    flagged: tuple[str, ...]
    """Items that two people or more answered, of whom fewer than 70 % chose the key."""


def people_facts(rows: Sequence[AnswerRow], seed: int = 0) -> PeopleFacts:
    """Return the facts of a run by people; its run number is the person."""
    asked = item_answers(rows)
    agreed = [max(Counter(each.predictions).values()) / len(each.predictions) for each in asked]
    flagged = [each.item for each in asked if len(each.predictions) > 1 and each.right < AGREEMENT]
    people = len({row.run for row in rows})
    return PeopleFacts(people, _crossed(rows, seed), sum(agreed) / len(agreed), tuple(flagged))


def _crossed(rows: Sequence[AnswerRow], seed: int) -> Interval:
    """Resample people and families independently; a row's weight is the product of the two counts."""
    person = np.unique([row.run for row in rows], return_inverse=True)[1]
    family = np.unique([row.family for row in rows], return_inverse=True)[1]
    right = np.array([row.correct for row in rows], dtype=np.float64)
    value, people, families = float(right.mean()), int(person.max()) + 1, int(family.max()) + 1
    if people == 1 or families == 1:
        what = "person" if people == 1 else "family of items"
        return Interval(value, None, None, LEVEL, len(rows), why=f"one {what} only: no interval")
    rng, found = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        times = rng.multinomial(people, [1 / people] * people)[person]
        weight = times * rng.multinomial(families, [1 / families] * families)[family]
        if weight.any():
            found.append(float(weight @ right / weight.sum()))
    fewer = min(people, families)
    return percentile_interval(value, np.array(found), len(rows), clusters=fewer, limits=(0.0, 1.0))
