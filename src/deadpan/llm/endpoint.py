"""An OpenAI-compatible server: where it is, what it is sent, and how its answer is read."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from deadpan.errors import ConfigError, ModelError, need
from deadpan.llm.messages import Message, StopReason, Usage
from deadpan.llm.retries import Failed, asked_wait
from deadpan.llm.settings import Settings

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

TRY_AGAIN = frozenset({408, 409, 425, 429})
REFUSALS = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
STOPS: dict[object, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server and the model to ask it for. An empty URL is the SDK's own."""

    url: str
    key: str
    model: str
    key_env: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, read but not priced."""

    text: str
    stop_reason: StopReason
    usage: Usage | None
    model: str


def find_url(settings: Settings) -> str:
    """The server's address, from the settings or the environment; empty for the SDK's own."""
    env = os.environ
    url = (settings.base_url or env.get("DEADPAN_LLM_URL") or env.get("OPENAI_BASE_URL") or "").strip()
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{url!r} is not the address of a server: write it as http://host:port/v1")
    return url.rstrip("/")


def find_endpoint(settings: Settings) -> Endpoint:
    """Where to send a call, with the key the server wants."""
    name = settings.model.removeprefix("openai/")
    url = find_url(settings)
    if not settings.key_env:
        return Endpoint(url, "none", name)
    key = os.environ.get(settings.key_env, "").strip()
    if not key:
        raise ConfigError(
            f'no key for {name}: set {settings.key_env}, or key_env = "" if {url or "the server"} needs none'
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {settings.key_env} has characters no key has: copy it again")
    return Endpoint(url, key, name, settings.key_env)


def connect(endpoint: Endpoint, timeout: float) -> AsyncOpenAI:
    """The SDK's client. It never retries by itself, or its retries would multiply with ours."""
    need("openai", "llm")
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    options: dict[str, Any] = {"base_url": endpoint.url} if endpoint.url else {}
    parts = urlsplit(endpoint.url)
    if parts.hostname in LOOPBACK:  # a proxy of the environment must not see these
        options["http_client"] = DefaultAsyncHttpxClient(
            trust_env=False,
            timeout=timeout,
            follow_redirects=False,
            verify=parts.scheme == "https",  # plain HTTP need not wait for certificates to load
        )
    return AsyncOpenAI(api_key=endpoint.key, max_retries=0, timeout=timeout, **options)


def request_body(
    endpoint: Endpoint, settings: Settings, messages: Sequence[Message], replicate: int
) -> dict[str, Any]:
    """The request. OpenAI's own server wants another name for max_tokens than all the others."""
    body = {"model": endpoint.model, "messages": list(messages), **settings.sampling()}
    if "seed" in body:
        body["seed"] = (int(body["seed"]) + replicate) % 2**31
    host = urlsplit(endpoint.url).hostname
    if "max_tokens" in body and host in (None, "api.openai.com"):
        body["max_completion_tokens"] = body.pop("max_tokens")
    return body


async def ask(client: AsyncOpenAI, endpoint: Endpoint, body: dict[str, Any], timeout: float) -> Answer:
    """One attempt. Raises Failed where another may help, a DeadpanError where none will."""
    import openai

    try:
        async with asyncio.timeout(timeout):  # the SDK's own limit is for each read, not for all of them
            # Not chat.completions.create: to look at every field of every message for what might be a file
            # to send costs it more than the call itself.
            text = await client.post("/chat/completions", body=body, cast_to=str)
    except (TimeoutError, openai.APITimeoutError):
        raise Failed("timeout", f"nothing within {timeout:g} s") from None
    except openai.APIStatusError as bad:
        return _status(bad, endpoint)
    except openai.APIConnectionError as bad:
        raise Failed("connection", str(bad.__cause__ or bad)) from None
    except UnicodeDecodeError:
        raise Failed("garbage", "the answer is not text") from None
    return read_answer(text, endpoint.model)


def read_answer(body: str, asked: str) -> Answer:
    """Read the JSON of an answer; anything else is a fault of the way here, so worth another attempt."""
    try:
        value = json.loads(body)
    except ValueError:
        raise Failed(
            "garbage", f"not JSON: {body.strip()[:80]!r}" if body.strip() else "empty body"
        ) from None
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Failed("garbage", f"no answer in it: {body.strip()[:80]!r}") from None
    stop = STOPS.get(choice.get("finish_reason"), "other")
    if not text and refusal:
        text, stop = str(refusal), "content_filter"
    if not isinstance(text, str | None):
        raise Failed("garbage", f"an answer that is no text: {str(text)[:80]!r}")
    return Answer(text or "", stop, _usage(value.get("usage")), str(value.get("model") or asked))


def _usage(value: object) -> Usage | None:
    """Token counts, if the server gave them."""
    if not isinstance(value, Mapping):
        return None
    taken, given = value.get("prompt_tokens"), value.get("completion_tokens")
    if not isinstance(taken, int) or not isinstance(given, int):
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(taken, given, cached if isinstance(cached, int) else 0)


def _status(bad: APIStatusError, endpoint: Endpoint) -> Answer:
    """What an HTTP error means: a refusal is an answer, some pass by themselves, some need a person."""
    code, where = bad.status_code, endpoint.url or "the API"
    said = " ".join(_said(bad).split())[:200]
    if bad.code in REFUSALS:
        return Answer("", "content_filter", None, endpoint.model)
    if bad.code == "insufficient_quota":
        raise ModelError(f"{where} says the account is out of credit ({said}): top it up or use another key")
    if code in TRY_AGAIN or code >= 500:
        raise Failed(f"http_{code}", said, asked_wait(bad.response.headers)) from None
    if code in (401, 403):
        cure = f"check the key in {endpoint.key_env}" if endpoint.key_env else "set key_env"
        raise ConfigError(f"{where} does not let us in (HTTP {code}: {said}): {cure}") from None
    if code == 404:
        raise ConfigError(
            f"{where} has no model {endpoint.model!r} ({said}): check the name and the URL"
        ) from None
    refused = f"{where} refuses the call to {endpoint.model} (HTTP {code}: {said})"
    raise ModelError(f"{refused}: change the settings or the messages") from None


def _said(bad: APIStatusError) -> str:
    """The server's own words, wherever its JSON has them."""
    body = bad.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            return str(inner.get("message") or inner)
        return str(inner)
    return str(body) if body else bad.message
