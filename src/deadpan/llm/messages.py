"""Messages to a language model, its replies, and answers of a fixed form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from deadpan.arguments import check_list
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError

StopReason = Literal["stop", "max_tokens", "content_filter", "other"]
"""The reason the model stopped: it was done, it reached max_tokens, the provider refused, anything else."""

_ROLES = ("system", "developer", "user", "assistant")


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
            raise DataError(f"message {number} is a {kind}: pass text, or {{'role': 'user', 'content': text}}")
        role, content = turn.get("role"), turn.get("content")
        if role not in _ROLES:
            raise ConfigError(f"message {number} has role {role!r}: choose from {', '.join(_ROLES)}")
        if not isinstance(content, str):
            raise DataError(f"message {number} has no text: its content must be a string")
        try:
            content.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"message {number} holds half a character (a lone surrogate): clean it") from None
        checked.append({"role": role, "content": content})
    return checked


ANSWER_FIELD = "answer"


def structure(schema: Mapping[str, Any] | None, choices: Sequence[str], embedded: bool) -> dict[str, Any]:
    """Return the fields of a request that constrain the answer.

    The embedded server takes a grammar, so a choice costs no tokens but its own. Elsewhere a choice is a JSON
    object with one field, the form that most servers support; `unwrap` takes it out again.
    """
    if choices and embedded:
        return {"grammar": "root ::= " + " | ".join(json.dumps(c, ensure_ascii=False) for c in choices)}
    if choices:
        answer = {"type": "string", "enum": list(choices)}
        schema = {
            "type": "object",
            "properties": {ANSWER_FIELD: answer},
            "required": [ANSWER_FIELD],
            "additionalProperties": False,
        }
    if schema is None:
        return {}
    named = {"name": ANSWER_FIELD, "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def explained(lead: str, choices: Sequence[str], most: int) -> dict[str, Any]:
    """Return the fields that make the embedded server explain itself, then write `lead` and one choice.

    The explanation has up to `most` characters, since a small model may never come to an end by itself.
    """
    said = " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    return {"grammar": f"root ::= [^\\x00]{{1,{most}}} {json.dumps(lead, ensure_ascii=False)} ({said})"}


def one_token(choices: Sequence[str]) -> bool:
    """Return whether every choice is one ASCII character, and so one token."""
    return bool(choices) and all(len(choice) == 1 and choice.isascii() for choice in choices)


def choice_probabilities(choices: Sequence[str], first_tokens: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each choice is beside the others, by the first token; empty if none can be told."""
    found = dict.fromkeys(choices, 0.0)
    for token, probability in first_tokens.items():
        start = token.strip().casefold()
        fitting = [choice for choice in choices if start and choice.casefold().startswith(start)]
        if len(fitting) == 1:
            found[fitting[0]] += probability
    total = sum(found.values())
    return {choice: probability / total for choice, probability in found.items()} if total else {}


def unwrap(text: str, choices: Sequence[str]) -> str:
    """Return the choice in an answer, or the text as it is where there is none."""
    bare = text.strip()
    if not choices or bare in choices:
        return bare if choices else text
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return text
    chosen = value.get(ANSWER_FIELD) if isinstance(value, dict) else value
    return chosen if isinstance(chosen, str) and chosen in choices else text
