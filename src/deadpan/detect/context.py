"""The part of a conversation that a system reads: the response alone, the last turns before it, or all."""

from __future__ import annotations

from dataclasses import dataclass

from deadpan.errors import ConfigError
from deadpan.records import Example, Turn
from deadpan.text import last_turns, render_turn

FULL = "full"


@dataclass(frozen=True, slots=True)
class Context:
    """The one context setting of every system.

    `turns` is the number of turns before the response that are read: 0 for none, None for all. With
    `speakers` each line begins with its speaker, as A, B, C in order of appearance: a change of speaker may
    be informative, a name such as Chandler must not be.
    """

    turns: int | None = 0
    speakers: bool = False

    def __post_init__(self) -> None:
        if self.turns is not None and (isinstance(self.turns, bool) or self.turns < 0):
            raise ConfigError(f"turns must be 0, a number, or None for all: got {self.turns!r}")

    def before(self, example: Example) -> tuple[Turn, ...]:
        """Return the turns before the response, oldest first; speakers are letters, or empty."""
        return self.conversation(example)[:-1]

    def conversation(self, example: Example) -> tuple[Turn, ...]:
        """Return the turns that are read, the response last."""
        seen = (*last_turns(example.context, self.turns), example.response)
        if not self.speakers:
            return tuple(Turn("", turn.text) for turn in seen)
        letters = _letters(example)
        return tuple(Turn(letters[turn.speaker] if turn.speaker else "", turn.text) for turn in seen)

    def texts(self, example: Example) -> tuple[str, str]:
        """Return the context, one turn per line, and the response: a pair of texts for an encoder."""
        *before, response = (render_turn(turn) for turn in self.conversation(example))
        return "\n".join(before), response

    def own(self, example: Example) -> tuple[bool, ...]:
        """Return for each turn of `before` True if the responder said it; all False without speakers."""
        speaker = example.response.speaker if self.speakers else ""
        seen = last_turns(example.context, self.turns)
        return tuple(bool(speaker) and turn.speaker == speaker for turn in seen)


def _letters(example: Example) -> dict[str, str]:
    """Return one letter per speaker of the whole conversation, so that it does not depend on `turns`."""
    names = dict.fromkeys(turn.speaker for turn in (*example.context, example.response) if turn.speaker)
    return {name: chr(ord("A") + number % 26) for number, name in enumerate(names)}


def parse_turns(word: str) -> int | None:
    """Parse a number of turns: 0, 1, 2, ..., or full."""
    if word.strip().lower() == FULL:
        return None
    if not word.strip().isdecimal() or len(word.strip()) > 9:
        raise ConfigError(f"turns {word[:40]!r}: give a number, or {FULL}")
    return int(word)


def name_turns(turns: int | None) -> str:
    """Return the number of turns as `parse_turns` reads it."""
    return FULL if turns is None else str(turns)
