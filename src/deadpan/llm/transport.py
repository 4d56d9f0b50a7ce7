"""The way a call reaches a model: what a server is sent, and how its answers and errors are read."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from deadpan.errors import ConfigError, ModelError, need
from deadpan.llm import embedded
from deadpan.llm.messages import Message, StopReason, Usage, one_token, request_seed, structure
from deadpan.llm.retries import Denied, Failed, Unreachable, asked_wait
from deadpan.llm.settings import LLMSettings, find_key, find_url, is_loopback, split_name, start_advice

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

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
                body = {name: value for name, value in body.items() if name not in _LIMITS}
            try:
                answer = await self._attempt(connection, endpoint, body, messages, settings, replicate)
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
                log.warning("%s rejects max_tokens %s: its own maximum is used", endpoint.model, settings.max_tokens)
            except Failed as failed:
                failed.request = body
                raise

    async def _attempt(
        self,
        connection: AsyncOpenAI,
        endpoint: Endpoint,
        body: dict[str, Any],
        messages: Sequence[Message],
        settings: LLMSettings,
        replicate: int,
    ) -> Answer:
        started = time.perf_counter()
        answer = await post_chat(connection, endpoint, body, settings.timeout)
        return dataclasses.replace(answer, seconds=time.perf_counter() - started)

    def identity(self, settings: LLMSettings) -> str:
        """Return the version of the embedded weights, or the server's address."""
        return embedded.weights_identity(settings.embedded) if settings.embedded else find_url(settings)

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
        for name in rejected & _LIMITS.keys() & body.keys():
            body[_LIMITS[name]] = body.pop(name)
        left_out = tuple(sorted((rejected | endpoint.ignores) & body.keys()))
        return {name: value for name, value in body.items() if name not in left_out}, left_out

    def _learn(self, endpoint: Endpoint, name: str) -> None:
        rejected = self._unsupported.setdefault(endpoint, set())
        if name in _LIMITS and _LIMITS[name] in rejected:  # a limit is renamed, never left out
            names = f"{name} nor {_LIMITS[name]}"
            raise ModelError(f"{endpoint.where} takes neither {names}: set max_tokens to none")
        known = name in rejected
        rejected.add(name)
        if name not in _LIMITS and not known:
            log.warning("%s does not take %s: it is not sent", endpoint.model, name)

    async def _endpoint(self, settings: LLMSettings) -> Endpoint:
        """Return the endpoint, looked up for every attempt: a crashed embedded server is started again."""
        if not settings.embedded:
            return find_endpoint(settings)
        server = await asyncio.to_thread(embedded.embedded_server, settings.embedded, settings.threads)
        return Endpoint(server.url, server.key, server.name, embedded=True)

    def _connection(self, endpoint: Endpoint, settings: LLMSettings) -> AsyncOpenAI:
        if endpoint not in self._connections:
            self._connections[endpoint] = open_connection(endpoint, settings.timeout)
        return self._connections[endpoint]


RETRIED = frozenset({408, 409, 425, 429})
REFUSALS = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
STOPS: dict[object, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "end_turn": "stop",
    "stop_sequence": "stop",
}
"""Reasons why an answer ended, in the words of OpenAI and of Anthropic."""
LIKELIEST = 20
"""First tokens whose probability is asked for: as many as servers give."""
REFUSED_RETRIES = 2
"""Retries worth making where nothing listens: a server that restarts is back within seconds."""
LIMIT = "max_tokens"
"""The parameter that an answer names as unsupported if it was made without a token limit."""
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of one parameter; a server that rejects one takes the other."""
OPTIONAL = (
    "temperature", "top_p", "frequency_penalty", "seed", "stop", "reasoning_effort", "response_format",
    "top_logprobs", "logprobs",
)  # fmt: skip
REJECTION_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
REJECTION = re.compile(
    r"not supported|unsupported|(?:not|n't) support|not allowed|not permitted|cannot both|deprecated|"
    r"unrecognized|unknown (?:field|parameter|argument)"
)
LIMIT_NAMED = re.compile(r"max_?(?:completion_|output_|new_)?_?tokens", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server and the model to ask it for. An empty URL is the SDK's own."""

    url: str
    key: str = field(repr=False)
    model: str
    key_env: str = ""
    ignores: frozenset[str] = frozenset()
    """Parameters its server ignores without saying so."""
    embedded: bool = False

    @property
    def where(self) -> str:
        """The server's name in a message."""
        return self.url or "the API"


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer, not yet priced, and the request body that it answers."""

    text: str
    stop_reason: StopReason
    usage: Usage | None
    model: str
    request: Mapping[str, Any] = field(default_factory=dict)
    unsupported: tuple[str, ...] = ()
    first_tokens: Mapping[str, float] = field(default_factory=dict)
    """Probabilities of the likeliest first tokens, where they were asked for."""
    seconds: float | None = None
    """The time of the request itself; None if only the client can tell."""


class Unsupported(Exception):
    """The server rejects one parameter of the request."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class LimitTooLarge(ModelError):
    """The server rejects a token limit that exceeds the model's own maximum."""


def find_endpoint(settings: LLMSettings) -> Endpoint:
    """Return where to send a call, with the key the server wants."""
    provider, name = split_name(settings)
    url = find_url(settings)
    key, variable = find_key(settings, url)
    return Endpoint(url, key, name, variable, provider.ignores)


def open_connection(endpoint: Endpoint, timeout: float) -> AsyncOpenAI:
    """Return the SDK's client. It never retries by itself, or its retries would multiply with ours."""
    need("openai", "llm")
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    options: dict[str, Any] = {"base_url": endpoint.url} if endpoint.url else {}
    if is_loopback(endpoint.url):  # a proxy of the environment must not see these
        options["http_client"] = DefaultAsyncHttpxClient(
            trust_env=False,
            timeout=timeout,
            follow_redirects=False,
            verify=endpoint.url.startswith("https"),  # plain HTTP need not wait for certificates to load
        )
    return AsyncOpenAI(api_key=endpoint.key, max_retries=0, timeout=timeout, **options)


def request_body(
    endpoint: Endpoint, settings: LLMSettings, messages: Sequence[Message], replicate: int
) -> dict[str, Any]:
    """Return the body of a request. OpenAI's own server has another name for max_tokens than all others."""
    body = {"model": endpoint.model, "messages": list(messages), **settings.sampling()}
    for name in ("schema", "choices"):
        body.pop(name, None)
    if body.pop("probabilities", False):
        body |= {"logprobs": True, "top_logprobs": LIKELIEST}
    body |= structure(settings.schema, settings.choices, endpoint.embedded)
    if "seed" in body:
        body["seed"] = request_seed(int(body["seed"]), messages, replicate)
    if endpoint.embedded:
        body["cache_prompt"] = True  # evaluate a prefix that the last prompt shares only once
        if one_token(settings.choices):
            body["max_tokens"] = 1
    if "max_tokens" in body and urlsplit(endpoint.url).hostname in (None, "api.openai.com"):
        body["max_completion_tokens"] = body.pop("max_tokens")
    return body


async def post_chat(client: AsyncOpenAI, endpoint: Endpoint, body: dict[str, Any], timeout: float) -> Answer:
    """Make one attempt. Raises Failed where a retry may help, a DeadpanError where it will not."""
    import openai

    try:
        async with asyncio.timeout(timeout):  # the SDK's own limit is for each read, not for all of them
            # Not chat.completions.create: to look at every field of every message for what might be a file
            # to send costs it more than the call itself.
            text = await client.post("/chat/completions", body=body, cast_to=str, options={"timeout": timeout})
    except (TimeoutError, openai.APITimeoutError):
        raise Failed("timeout", f"no answer within {timeout:g} s") from None
    except openai.APIStatusError as bad:
        return sort_status(bad, endpoint, body)
    except openai.APIConnectionError as bad:
        raise _connection(bad, endpoint) from None
    except UnicodeDecodeError:
        raise Failed("garbage", "the answer is not text") from None
    return read_answer(text, endpoint.model)


def read_answer(body: str, asked: str) -> Answer:
    """Read the JSON of an answer; anything else is a fault of the connection, so worth a retry."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        said = body.strip()
        raise Failed("garbage", f"not JSON: {said[:80]!r}" if said else "empty body") from None
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Failed("garbage", f"no answer in it: {body.strip()[:80]!r}") from None
    stop = STOPS.get(choice.get("finish_reason"), "other")
    if refusal:  # some servers repeat it as the answer
        text, stop = text or str(refusal), "content_filter"
    if not isinstance(text, str | None):
        raise Failed("garbage", f"an answer that is not text: {str(text)[:80]!r}")
    usage, model = _usage(value.get("usage")), str(value.get("model") or asked)
    return Answer(text or "", stop, usage, model, first_tokens=_first_tokens(choice.get("logprobs")))


def _first_tokens(logprobs: object) -> dict[str, float]:
    """Return the probabilities of the likeliest first tokens; none if the server gave none."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    first = content[0] if isinstance(content, list) and content else None
    likeliest = first.get("top_logprobs") if isinstance(first, Mapping) else None
    found: dict[str, float] = {}
    for token in likeliest if isinstance(likeliest, list) else ():
        text, log = (token.get("token"), token.get("logprob")) if isinstance(token, Mapping) else (None, None)
        if isinstance(text, str) and isinstance(log, int | float):
            found[text] = found.get(text, 0.0) + math.exp(min(0.0, log))
    return found


def _usage(value: object) -> Usage | None:
    """Return the token counts, if the server gave them."""
    if not isinstance(value, Mapping):
        return None
    taken, given = value.get("prompt_tokens"), value.get("completion_tokens")
    if not isinstance(taken, int) or not isinstance(given, int):
        return None
    return Usage(
        taken,
        given,
        _detail(value.get("prompt_tokens_details"), "cached_tokens"),
        _detail(value.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _detail(details: object, name: str) -> int:
    count = details.get(name) if isinstance(details, Mapping) else 0
    return count if isinstance(count, int) else 0


def _connection(bad: Exception, endpoint: Endpoint) -> Failed:
    """Sort a failed connection: nothing listens, or it broke."""
    cause: BaseException | None = bad
    while cause is not None:
        # The system's own error is wrapped several times over, and by anyio in other words.
        if isinstance(cause, ConnectionRefusedError) or "connection attempts failed" in str(cause):
            advice = "it is started again" if endpoint.embedded else start_advice(endpoint.url)
            final = Unreachable(f"nothing listens at {endpoint.where}: {advice}")
            return Failed("refused", "connection refused", most=REFUSED_RETRIES, final=final)
        cause = cause.__cause__ or cause.__context__
    return Failed("connection", str(bad.__cause__ or bad))


def sort_status(bad: APIStatusError, endpoint: Endpoint, body: Mapping[str, Any]) -> Answer:
    """Sort an HTTP error: a refusal is an answer, some errors pass with time, some need a person."""
    code, where = bad.status_code, endpoint.where
    said = " ".join(_said(bad).split())[:200]
    if bad.code in REFUSALS:
        return Answer("", "content_filter", None, endpoint.model)
    if bad.code == "insufficient_quota" or code == 402:
        raise Denied(f"{where} says the account is out of credit ({said}): top it up or use another key")
    if code in RETRIED or code >= 500:
        raise Failed(f"http_{code}", said, asked_wait(bad.response.headers)) from None
    if code in (401, 403):
        cure = f"check the key in {endpoint.key_env}" if endpoint.key_env else "set key_env"
        raise Denied(f"{where} rejects the key (HTTP {code}: {said}): {cure}") from None
    if code == 404:
        raise ConfigError(f"{where} has no model {endpoint.model!r} ({said}): check the name and the URL") from None
    if code in (400, 422) and (name := _rejected(bad, said, body)):
        raise Unsupported(name) from None
    limit = code in (400, 422) and LIMIT_NAMED.search(said)
    named = next((name for name in OPTIONAL if name in body and name in said.lower()), "")
    other = (
        f"use --{named.replace('_', '-')} none, and none is sent" if named else "change the settings or the messages"
    )
    kind, advice = (LimitTooLarge, "lower max_tokens") if limit else (ModelError, other)
    raise kind(f"{where} refuses the call to {endpoint.model} (HTTP {code}: {said}): {advice}") from None


def _rejected(bad: APIStatusError, said: str, body: Mapping[str, Any]) -> str:
    """Return the parameter that a server says it does not take; empty if the error is another."""
    lowered = said.lower()
    if bad.code not in REJECTION_CODES and not REJECTION.search(lowered):
        return ""
    if bad.param in body and (bad.param in OPTIONAL or bad.param in _LIMITS):
        return str(bad.param)
    named = [name for name in (*OPTIONAL, *_LIMITS) if name in body and name in lowered]
    if "cannot both" in lowered:  # of two that exclude each other, keep the first
        return named[-1] if len(named) > 1 else ""
    return named[0] if named else ""


def _said(bad: APIStatusError) -> str:
    """Return the server's own words, wherever its JSON has them."""
    body = bad.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            return str(inner.get("message") or inner)
        return str(inner)
    return str(body) if body else bad.message
