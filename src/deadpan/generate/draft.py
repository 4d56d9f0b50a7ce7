"""The one record that flows through every step, and the one that says why a draft left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadpan.records import Example, Turn
from deadpan.text import render_turn

SPEAKERS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Draft:
    """A source dialogue and what has been made of it so far; what is empty has not been made yet.

    `suspect` says why the model found it abnormal: whether it is, a person decides.
    """

    id: str
    source: tuple[Turn, ...]
    topic: str = ""
    intimacy: str = ""
    theme: str = ""
    summary: str = ""
    politeness: Mapping[str, str] = field(default_factory=dict)
    context: tuple[Turn, ...] = ()
    response: Turn | None = None
    explanation: str = ""
    suspect: str = ""
    sincere: str = ""

    @property
    def situation(self) -> str:
        """As prompts and people read it."""
        return f"{self.theme} - {self.summary}"

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The new dialogue, response last."""
        return self.context if self.response is None else (*self.context, self.response)

    @property
    def text(self) -> str:
        """The new dialogue as one text, without who speaks."""
        return "\n".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Dropped:
    """What left the run, at which step and why. `raw` is what the model wrote or the file held."""

    id: str
    step: str
    reason: str
    detail: str = ""
    raw: str = ""
    draft: Draft | None = None


def lines(turns: tuple[Turn, ...]) -> str:
    """A dialogue as prompts show it."""
    return "\n".join(render_turn(turn) for turn in turns)


def as_examples(draft: Draft, language: str) -> list[Example]:
    """The draft as published unjudged: sarcastic by intention, with its sincere twin if it has one."""
    if draft.response is None:
        return []
    about: dict[str, Any] = {"topic": draft.topic, "situation": draft.situation}
    shared: dict[str, Any] = {
        "context": draft.context,
        "label_kind": "generated",
        "group": draft.id,
        "source": "deadpan-generate",
        "language": language,
        "meta": about,
    }
    sequence = draft.id if draft.sincere else ""
    made = [
        Example(
            draft.id, draft.response, label=True, explanation=draft.explanation, sequence=sequence, **shared
        )
    ]
    if draft.sincere:
        twin = Turn(draft.response.speaker, draft.sincere)
        made.append(Example(f"{draft.id}/sincere", twin, label=False, sequence=sequence, **shared))
    return made
