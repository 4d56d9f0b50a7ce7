"""How much of a conversation a system sees: the response alone, the last turns before it, or all of them."""

from __future__ import annotations

from dataclasses import dataclass

from deadpan.errors import ConfigError
from deadpan.records import Example, Turn
from deadpan.text import last_turns, render_turn

FULL = "full"


@dataclass(frozen=True, slots=True)
class Context:
    """The one context setting of every system.

    `turns` is how many turns before the response are seen: 0 none, None all. With `speakers` each line
    begins with who says it, as A, B, C in the order of appearance: that somebody else speaks may tell
    something, that it is Chandler must not.
    """

    turns: int | None = 0
    speakers: bool = False

    def __post_init__(self) -> None:
        if self.turns is not None and (isinstance(self.turns, bool) or self.turns < 0):
            raise ConfigError(f"turns of context are 0, a number, or all of them (None): got {self.turns!r}")

    def before(self, example: Example) -> tuple[Turn, ...]:
        """The turns before the response that are seen, oldest first; speakers are letters, or empty."""
        return self.conversation(example)[:-1]

    def conversation(self, example: Example) -> tuple[Turn, ...]:
        """The turns that are seen, the response last."""
        seen = (*last_turns(example.context, self.turns), example.response)
        if not self.speakers:
            return tuple(Turn("", turn.text) for turn in seen)
        letters = _letters(example)
        return tuple(Turn(letters[turn.speaker] if turn.speaker else "", turn.text) for turn in seen)

    def texts(self, example: Example) -> tuple[str, str]:
        """What was said before, a turn a line, and the response: a pair of texts for an encoder."""
        *before, response = (render_turn(turn) for turn in self.conversation(example))
        return "\n".join(before), response

    def own(self, example: Example) -> tuple[bool, ...]:
        """For each turn of `before`, whether the one who answers said it too; all False without speakers."""
        speaker = example.response.speaker if self.speakers else ""
        seen = last_turns(example.context, self.turns)
        return tuple(bool(speaker) and turn.speaker == speaker for turn in seen)


def _letters(example: Example) -> dict[str, str]:
    """A letter a speaker, by the whole conversation, so that it does not depend on how much is seen."""
    names = dict.fromkeys(turn.speaker for turn in (*example.context, example.response) if turn.speaker)
    return {name: chr(ord("A") + number % 26) for number, name in enumerate(names)}


def parse_turns(word: str) -> int | None:
    """A number of turns as people type it: 0, 1, 2, ..., or full."""
    if word.strip().lower() == FULL:
        return None
    if not word.strip().isdecimal():
        raise ConfigError(f"context {word!r}: give a number of turns, or {FULL}")
    return int(word)


def name_turns(turns: int | None) -> str:
    """The other way round, for tables."""
    return FULL if turns is None else str(turns)
