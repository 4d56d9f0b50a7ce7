"""Draft, the record that flows through every step, and Dropped, which says why one was dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadpan.records import Example, Turn
from deadpan.text import render_turn

SPEAKERS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Draft:
    """A source dialogue and what the steps have made of it so far; fields yet to be made are empty.

    `suspect` is the reason why the model found it abnormal; a person decides whether it is.
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
    contrast: float | None = None
    """The probability of a bad scene with a friendly response, where a back-check chose it."""

    @property
    def situation(self) -> str:
        """Theme and summary in one line, as in prompts."""
        return f"{self.theme} - {self.summary}"

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The new dialogue, response last."""
        return self.context if self.response is None else (*self.context, self.response)

    @property
    def text(self) -> str:
        """The new dialogue as one text, without speakers."""
        return "\n".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped draft, its step and the reason. `raw` is the model's answer."""

    id: str
    step: str
    reason: str
    detail: str = ""
    raw: str = ""
    draft: Draft | None = None


def lines(turns: tuple[Turn, ...]) -> str:
    """Return a dialogue as text, one turn per line, as in prompts."""
    return "\n".join(render_turn(turn) for turn in turns)


def as_examples(draft: Draft, language: str) -> list[Example]:
    """Return the draft as examples that nobody judged: the sarcastic response and, if any, its contrast."""
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
