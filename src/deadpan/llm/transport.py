"""The way a call reaches a model: over HTTP to an endpoint, or to the embedded model's own server."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from deadpan.errors import ModelError
from deadpan.llm import embedded
from deadpan.llm.endpoint import (
    LIMIT,
    LIMITS,
    Answer,
    Endpoint,
    LimitTooLarge,
    Unsupported,
    connect,
    find_endpoint,
    post_chat,
    request_body,
)
from deadpan.llm.messages import Message
from deadpan.llm.providers import find_url
from deadpan.llm.retries import Failed
from deadpan.llm.settings import LLMSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)


class Transport(Protocol):
    """Something that can make one attempt at a call. `Client` adds everything else around it."""

    async def send(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> Answer:
        """Make one attempt. Raises `Failed` where a retry may help, a DeadpanError where it will not."""
        ...

    def identity(self, settings: LLMSettings) -> str:
        """Return which server, or which weights, answer: a part of the cache's key."""
        ...

    def check(self, settings: LLMSettings) -> None:
        """Raise what would stop the first call: a missing key, a missing model."""
        ...

    async def close(self) -> None:
        """Close the connections; a later call opens them again."""
        ...


class HttpTransport:
    """Calls to any OpenAI-compatible server, and to the embedded model, which has one.

    A parameter that a server rejects is left out from then on, logged once, and named in every answer.
    """

    def __init__(self) -> None:
        self._connections: dict[Endpoint, AsyncOpenAI] = {}
        self._unsupported: dict[Endpoint, set[str]] = {}
        self._answered: set[Endpoint] = set()

    async def send(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> Answer:
        """Make one attempt, repeated at once where the server rejects a parameter."""
        endpoint = await self._endpoint(settings)
        connection = self._connection(endpoint, settings)
        unlimited: tuple[str, ...] = ()
        while True:
            body, left_out = self._body(endpoint, settings, messages, replicate)
            if unlimited:
                body = {name: value for name, value in body.items() if name not in LIMITS}
            try:
                answer = await post_chat(connection, endpoint, body, settings.timeout)
                self._answered.add(endpoint)
                return dataclasses.replace(answer, request=body, unsupported=left_out + unlimited)
            except Unsupported as bad:
                self._learn(endpoint, bad.name)
            except LimitTooLarge:
                # A server that has answered smaller limits means the number, not the parameter: without one,
                # the model's own maximum holds.
                if unlimited or endpoint not in self._answered:
                    raise
                unlimited = (LIMIT,)
                log.warning(
                    "%s rejects max_tokens %s: its own maximum is used", endpoint.model, settings.max_tokens
                )
            except Failed as failed:
                failed.request = body
                raise

    def identity(self, settings: LLMSettings) -> str:
        """Return the version of the embedded weights, or the server's address."""
        return embedded.identity(settings.embedded) if settings.embedded else find_url(settings)

    def check(self, settings: LLMSettings) -> None:
        """Raise an error if the key or the weights are missing."""
        if settings.embedded:
            embedded.weights_of(settings.embedded)
        else:
            find_endpoint(settings)

    async def close(self) -> None:
        """Close the connections; a later call opens them again."""
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            await connection.close()

    def _body(
        self, endpoint: Endpoint, settings: LLMSettings, messages: Sequence[Message], replicate: int
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the body without what the server does not take, and the names of that."""
        body = request_body(endpoint, settings, messages, replicate)
        rejected = self._unsupported.get(endpoint, set())
        for name in rejected & LIMITS.keys() & body.keys():
            body[LIMITS[name]] = body.pop(name)
        left_out = tuple(sorted((rejected | endpoint.ignores) & body.keys()))
        return {name: value for name, value in body.items() if name not in left_out}, left_out

    def _learn(self, endpoint: Endpoint, name: str) -> None:
        rejected = self._unsupported.setdefault(endpoint, set())
        if name in LIMITS and LIMITS[name] in rejected:  # a limit is renamed, never left out
            names = f"{name} nor {LIMITS[name]}"
            raise ModelError(f"{endpoint.where} takes neither {names}: set max_tokens to none")
        rejected.add(name)
        if name not in LIMITS:
            log.warning("%s does not take %s: it is not sent", endpoint.model, name)

    async def _endpoint(self, settings: LLMSettings) -> Endpoint:
        """Return the endpoint, looked up for every attempt: a crashed embedded server is started again."""
        if not settings.embedded:
            return find_endpoint(settings)
        server = await asyncio.to_thread(embedded.embedded_server, settings.embedded, settings.threads)
        return Endpoint(server.url, server.key, server.name, embedded=True)

    def _connection(self, endpoint: Endpoint, settings: LLMSettings) -> AsyncOpenAI:
        if endpoint not in self._connections:
            self._connections[endpoint] = connect(endpoint, settings.timeout)
        return self._connections[endpoint]
