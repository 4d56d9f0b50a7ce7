"""What goes to a language model and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from deadpan.errors import ConfigError, DataError

StopReason = Literal["stop", "max_tokens", "content_filter", "other"]
"""Why it stopped: it was done, it hit our limit, the provider would not, anything else."""

ROLES = ("system", "developer", "user", "assistant")


class Message(TypedDict):
    """One turn, as the API spells it."""

    role: str
    content: str


Messages = str | Sequence[Message]
"""A conversation, or the text of a single user message."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; `cached_tokens` are those of the input it had seen before."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and how it came about.

    `cost` is in US dollars, None where the price or the usage is not known. `seconds` is the time of the
    attempt that was answered. `retried` gives the reason of every attempt before it. A reply from the cache
    keeps the cost, seconds and attempts it had when it was made, and says `cached`.
    """

    text: str
    stop_reason: StopReason
    usage: Usage | None
    cost: float | None
    seconds: float
    model: str
    cached: bool = False
    retried: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """Requests it took."""
        return len(self.retried) + 1


def system(text: str) -> Message:
    """What the model is told to be."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """What the model is asked."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """What the model said earlier, or is made to have said in an example."""
    return {"role": "assistant", "content": text}


def conversation(messages: Messages) -> list[Message]:
    """Messages in one form, checked: what cannot be sent is better refused here than by a server."""
    turns = [user(messages)] if isinstance(messages, str) else list(messages)
    if not turns:
        raise DataError("no messages to send: give at least one")
    checked: list[Message] = []
    for number, turn in enumerate(turns, 1):
        role, content = turn.get("role"), turn.get("content")
        if role not in ROLES:
            raise ConfigError(f"message {number} has role {role!r}: choose from {', '.join(ROLES)}")
        if not isinstance(content, str):
            raise DataError(f"message {number} has no text: its content must be a string")
        try:
            content.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"message {number} holds half a character (a lone surrogate): clean it") from None
        checked.append({"role": role, "content": content})
    return checked
