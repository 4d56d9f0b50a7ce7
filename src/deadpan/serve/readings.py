"""A language model's reading of an utterance, piece by piece as it is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec

from deadpan import models
from deadpan.errors import ModelError
from deadpan.llm import EMBEDDED_PREFIX, LLMSettings, Message, default_model, embedded_server, system, user
from deadpan.llm.transport import Endpoint, find_endpoint, open_connection, request_body
from deadpan.records import Example
from deadpan.serve.settings import ServeSettings
from deadpan.text import render_turn

_TASK = (
    "You read one message of a conversation and say, in at most two short sentences, what its speaker means: "
    "first whether it is meant literally or sarcastically, then what is meant. Use only what is written. If "
    "it cannot be told, say so. Answer in the language of the message."
)
_TOKENS = 120


def reader_settings(settings: ServeSettings) -> LLMSettings | None:
    """Return how to call the language model; None if none is pulled or configured."""
    if find_spec("openai") is None:
        return None
    name = settings.reader or (default_model() if not settings.base_url else "")
    embedded = name.removeprefix(EMBEDDED_PREFIX)
    if not settings.reader and not settings.base_url and embedded not in models.installed():
        return None
    return LLMSettings(model=name or "default", base_url=settings.base_url, temperature=0.0, max_tokens=_TOKENS, seed=0)


def question(example: Example) -> list[Message]:
    """Return the messages that ask for a reading."""
    before = "\n".join(render_turn(turn) for turn in example.context)
    scene = f"Conversation so far:\n{before}\n\n" if before else ""
    return [system(_TASK), user(f"{scene}Message to read:\n{render_turn(example.response)}")]


async def stream_reading(settings: LLMSettings, example: Example) -> AsyncIterator[str]:
    """Yield the answer in pieces; a failure is a DeadpanError."""
    import openai

    endpoint = await _endpoint(settings)
    client = open_connection(endpoint, settings.timeout)
    try:
        body = request_body(endpoint, settings, question(example), 0)
        body.pop("cache_prompt", None)
        async with asyncio.timeout(settings.timeout):
            stream = await client.chat.completions.create(stream=True, **body)
            async for chunk in stream:
                piece = chunk.choices[0].delta.content if chunk.choices else ""
                if piece:
                    yield piece
    except TimeoutError:
        raise ModelError(f"{settings.model} did not finish within {settings.timeout:g} s: try again") from None
    except openai.OpenAIError as bad:
        raise ModelError(f"{settings.model} did not answer ({type(bad).__name__}): try again") from None
    finally:
        await client.close()


async def _endpoint(settings: LLMSettings) -> Endpoint:
    if not settings.model.startswith(EMBEDDED_PREFIX):
        return find_endpoint(settings)
    name = settings.model.removeprefix(EMBEDDED_PREFIX)
    try:
        server = await asyncio.to_thread(embedded_server, name, settings.threads)
    except OSError as bad:
        raise ModelError(f"{name} could not be started ({bad})") from None
    return Endpoint(server.url, server.key, name, embedded=True)
