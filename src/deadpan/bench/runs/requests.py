"""Requests as Inspect wants them: sampling, constrained answers, and limits that a server rejects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deadpan.llm import LLMSettings, Message
from deadpan.llm.messages import request_seed
from deadpan.llm.structured import explained, one_token, structure

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, ResponseSchema


LAST_LINE = "\nFinal Answer: "
LONGEST_EXPLANATION = 240
"""Characters: the prompt asks for two or three sentences, and a small model hardly ever stops by itself."""


def explained_letter(letters: Sequence[str]) -> dict[str, Any]:
    """Return the form that the reasoned prompt asks for, as a grammar of the embedded server."""
    return explained(LAST_LINE, letters, LONGEST_EXPLANATION)


def request_config(settings: LLMSettings, messages: Sequence[Message], replicate: int) -> GenerateConfig:
    """Return the settings of a request as Inspect calls them."""
    from inspect_ai.model import GenerateConfig

    local = bool(settings.embedded)
    extra = dict(settings.extra)
    if local and settings.choices:
        extra |= structure(None, settings.choices, embedded=True)
    return GenerateConfig(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=1 if local and one_token(settings.choices) else settings.max_tokens,
        stop_seqs=list(settings.stop) or None,
        reasoning_effort=settings.reasoning_effort,
        extra_body=extra or None,
        response_schema=None if local else _response_schema(settings.choices),
        seed=None if settings.seed is None else request_seed(settings.seed, messages, replicate),
    )


def _response_schema(choices: Sequence[str]) -> ResponseSchema | None:
    """Return the JSON form of a choice, which Inspect translates for each provider."""
    if not choices:
        return None
    from inspect_ai.model import ResponseSchema

    named = structure(None, choices, embedded=False)["response_format"]["json_schema"]
    return ResponseSchema(name=named["name"], json_schema=named["schema"], strict=True)


def rejects_limit(bad: BaseException) -> bool:
    """Return whether a server rejects a request because of its token limit."""
    from tenacity import RetryError

    if isinstance(bad, RetryError):
        bad = bad.last_attempt.exception() or bad
    named = re.search(r"max_?(?:completion_|output_|new_)?_?tokens", str(bad), re.IGNORECASE)
    return getattr(bad, "status_code", None) in (400, 422) and named is not None
