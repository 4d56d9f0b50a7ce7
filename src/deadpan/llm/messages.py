"""Messages to a language model and its replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from deadpan.arguments import check_list
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError

StopReason = Literal["stop", "max_tokens", "content_filter", "other"]
"""The reason the model stopped: it was done, it reached max_tokens, the provider refused, anything else."""

ROLES = ("system", "developer", "user", "assistant")


class Message(TypedDict):
    """One turn, as the API spells it."""

    role: str
    content: str


Messages = str | Sequence[Message]
"""A conversation, or the text of a single user message."""


def request_seed(seed: int, messages: Sequence[Message], replicate: int) -> int:
    """Return the seed that a server gets, drawn from the seed, the prompt and the replicate.

    With the same seed for every prompt, a replicate would take the same quantile of every first token.
    """
    said = "\x1f".join(message["content"] for message in messages)
    return int.from_bytes(draw(seed, f"{replicate}\x1f{said}")[:4], "big") % 2**31


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them.

    `cached_tokens` are the part of the input it had evaluated before, `reasoning_tokens` the part of the
    output that was thinking.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """An answer and how it was obtained.

    `cost` is in US dollars, None where the price or the usage is unknown. `seconds` is the time of the
    attempt that was answered. `retried` gives the reason of every attempt before it. A reply from the cache
    or a journal keeps the cost and seconds it had when it was made, and has `cached` set. `unsupported` names
    the parameters that the server does not take and that were therefore not sent.
    """

    text: str
    stop_reason: StopReason
    usage: Usage | None
    cost: float | None
    seconds: float
    model: str
    cached: bool = False
    retried: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    first_tokens: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Probabilities of the likeliest first tokens; empty unless asked for."""
    probabilities: Mapping[str, float] = field(default_factory=dict, hash=False)
    """The probability of each choice among the choices; empty where the server does not say."""

    @property
    def attempts(self) -> int:
        """Number of requests made."""
        return len(self.retried) + 1

    def facts(self) -> str:
        """Return one line on how the answer was obtained."""
        cost = "unknown" if self.cost is None else f"${self.cost:.4f}"
        facts = [self.stop_reason, f"{self.seconds:.1f} s", f"cost {cost}"]
        facts += ["from the cache"] if self.cached else []
        facts += [f"{name} not taken by the server" for name in self.unsupported]
        return f"{self.model}: {', '.join(facts)}"

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        cost = "" if self.cost is None else f", cost={self.cost:g}"
        cached = ", cached=True" if self.cached else ""
        return f"Reply({text!r}, stop_reason={self.stop_reason!r}, model={self.model!r}{cost}{cached})"


def system(text: str) -> Message:
    """Return a message with instructions for the model."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """Return a message from the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """Return a message from the model: an earlier answer, or an example of one."""
    return {"role": "assistant", "content": text}


def conversation(messages: Messages) -> list[Message]:
    """Return checked messages as a list: what cannot be sent is refused here and not by a server."""
    turns: list[Any] = [user(messages)] if isinstance(messages, str) else check_list(messages, "messages")
    if not turns:
        raise DataError("no messages to send: give at least one")
    checked: list[Message] = []
    for number, turn in enumerate(turns, 1):
        if not isinstance(turn, Mapping):
            kind = type(turn).__name__
            raise DataError(
                f"message {number} is a {kind}: pass text, or {{'role': 'user', 'content': text}}"
            )
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
