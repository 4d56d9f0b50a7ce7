"""Verdicts: what a cell measured again says about the published one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from deadpan.errors import DataError, DeadpanError, MissingExtra, ModelError
from deadpan.reproduce.published import PublishedCell
from deadpan.stats import Interval

Word = Literal["reproduced", "differs", "needs data", "needs people", "needs weights"]
WORDS: tuple[Word, ...] = get_args(Word)
MARKS = {"reproduced": "✓", "differs": "≠", "needs data": "▤", "needs people": "☺", "needs weights": "▣"}
"""A shape for each verdict, beside its word and never alone."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell measured again. `value` is on the scale of the program (a share, not per cent).

    `how` is the design in a few words; `reason` why the number may differ from the published one. `needs`
    names what is missing although something was measured, as in "data: FILE". `agrees` is the verdict on a
    statement, `text` what was found in words.
    """

    value: Interval | None = None
    text: str = ""
    how: str = ""
    reason: str = ""
    needs: str = ""
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """A verdict and its reason."""

    word: Word
    why: str


class MissingPeople(DeadpanError):
    """A cell needs people; the message is the command that asks them."""


def judge(cell: PublishedCell, ours: Measured) -> Needed:
    """Return the verdict: reproduced if the published number is in our interval, or ours is better."""
    if ours.needs:
        return need_from(ours.needs)
    if ours.agrees is not None:
        return _found(ours.agrees, ours)
    if cell.value is None or ours.value is None or ours.value.value is None:
        why = ours.value.why if ours.value is not None else ""
        return Needed("differs", why or ours.reason or "no number was measured")
    value, low, high = (None if x is None else x * cell.scale for x in _ends(ours.value))
    if cell.judged == "count":
        return _found(same_count(value or 0.0, cell), ours)
    low, high = (value if low is None else low), (value if high is None else high)
    slack = 0.5 * 10.0**-cell.decimals  # the published number is rounded
    inside = (low or 0.0) - slack <= cell.value <= (high or 0.0) + slack
    better = cell.judged == "higher" and (value or 0.0) >= cell.value
    return _found(inside or better, ours)


def _ends(interval: Interval) -> tuple[float | None, float | None, float | None]:
    return interval.value, interval.low, interval.high


def same_count(value: float, cell: PublishedCell) -> bool:
    """Return whether a count equals the published one in the digits published: 4.7K is 4,650 to 4,750."""
    published = cell.value or 0.0
    if not published.is_integer():
        return abs(value - published) <= 0.5 * 10.0**-cell.decimals
    return abs(value - published) <= (cell.step / 2 if cell.step > 1 else 0)


def _found(agrees: bool, ours: Measured) -> Needed:
    if agrees:
        return Needed("reproduced", "")
    return Needed("differs", ours.reason or "the cause is not known")


def need_from(text: str) -> Needed:
    """Return a verdict from "data: FILE", "people: COMMAND" or "weights: NAME"."""
    kind, mark, why = text.partition(": ")
    word = f"needs {kind}"
    if not mark or word not in WORDS:
        raise DataError(f"{text!r}: a need starts with data, people or weights and a colon")
    return Needed(word, why)


def need_of(error: DeadpanError) -> Needed:
    """Return the verdict on a cell whose measurement stopped with an error that a user can fix."""
    if isinstance(error, MissingPeople):
        return Needed("needs people", str(error))
    if isinstance(error, ModelError | MissingExtra):
        return Needed("needs weights", str(error))
    return Needed("needs data", str(error))
