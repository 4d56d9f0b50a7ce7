"""Answers of a fixed form: a JSON schema, or one of a few choices, as each kind of server wants it said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

FIELD = "answer"


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
            "properties": {FIELD: answer},
            "required": [FIELD],
            "additionalProperties": False,
        }
    if schema is None:
        return {}
    named = {"name": FIELD, "strict": True, "schema": dict(schema)}
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
    chosen = value.get(FIELD) if isinstance(value, dict) else value
    return chosen if isinstance(chosen, str) and chosen in choices else text
