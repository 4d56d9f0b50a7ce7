"""Questions, screens and guideline entries: what a person sees of a study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from deadpan.draws import draw
from deadpan.records import Turn

Words = Any
"""Text that is translated when it is shown, not when it is written."""
IS_SARCASTIC = "sarcastic"
"""Name of the question "sarcastic or not"."""
SARCASTIC, SINCERE = "sarcastic", "not sarcastic"
LONGEST_REMARK = 5000
Cases = tuple[Mapping[str, tuple[str, ...]], ...]
"""Cases of which one must hold: in it, each question named has one of the answers; "" is no answer yet."""


def holds(cases: Cases, answers: Mapping[str, str]) -> bool:
    """Return whether one of the cases holds."""
    return any(all(answers.get(name, "") in values for name, values in case.items()) for case in cases)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer. `when` names the answers to the earlier question under which it is offered."""

    value: str
    label: Words
    when: tuple[str, ...] = ()
    cases: Cases = ()
    """Instead of `when`, where it depends on several questions."""

    def offered(self, answers: Mapping[str, str], after: str) -> bool:
        """Return whether it can be chosen, given the other answers; `after` is the earlier question."""
        cases = self.cases or (({after: self.when},) if self.when else ())
        return not cases or holds(cases, answers)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; without choices it is answered in words. `after` and `when` make it depend on another."""

    name: str
    text: Words
    choices: tuple[Choice, ...] = ()
    required: bool = True
    after: str = ""
    when: tuple[str, ...] = ()
    cases: Cases = ()
    """Instead of `after` and `when`, where it depends on several questions."""
    quotes: Literal["", "choices", "all"] = ""
    """Words that are the item's own, in its language: the choices, or the question too."""

    @property
    def conditions(self) -> Cases:
        """The cases in which it is asked; empty if it always is."""
        return self.cases or (({self.after: self.when},) if self.after else ())

    @property
    def conditions_json(self) -> str:
        """The cases, for the script of the page."""
        return json.dumps(self.conditions)

    def asked(self, answers: Mapping[str, str]) -> bool:
        """Return whether it is asked, given the other answers."""
        return not self.conditions or holds(self.conditions, answers)

    def allows(self, value: str, answers: Mapping[str, str]) -> bool:
        """Return whether `value` is a possible answer. An empty one always is: it clears an answer."""
        if not value:
            return True
        if not self.choices:
            return len(value) <= LONGEST_REMARK
        return any(choice.value == value and choice.offered(answers, self.after) for choice in self.choices)

    @property
    def values(self) -> list[str]:
        """The values of its choices."""
        return [choice.value for choice in self.choices]


@dataclass(frozen=True, slots=True)
class Screen:
    """The view a person has of an item; never a hidden field."""

    context: Sequence[Turn]
    response: Turn | None
    notes: Sequence[tuple[Words, str]] = ()
    questions: Sequence[Question] = ()
    after: Sequence[Turn] = ()
    """Turns that followed the response."""
    language: str = ""
    """Of the item's words, where it is not the study's."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One entry of a guideline: a case, an example of it, and the reason."""

    title: Words
    example: Words
    why: Words


def sarcastic_or_not(text: Words) -> Question:
    """Return a question with these two answers."""
    return Question(
        IS_SARCASTIC, text, (Choice(SARCASTIC, _("Sarcastic")), Choice(SINCERE, _("Not sarcastic")))
    )


def shuffled(count: int, order: str) -> list[int]:
    """Return the places 0 to count - 1 in an order that depends on `order` alone."""
    return sorted(range(count), key=lambda place: draw(0, f"{order}\x1f{place}"))
