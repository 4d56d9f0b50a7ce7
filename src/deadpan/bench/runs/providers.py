"""Models by name: providers of Inspect, OpenAI-compatible servers, embedded models and baselines."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from deadpan.bench.runs.asking import Answerer
from deadpan.bench.runs.baselines import PREFIX, Baseline
from deadpan.bench.runs.requests import rejects_limit, request_config
from deadpan.errors import ConfigError, DeadpanError, need
from deadpan.llm import (
    Answer,
    Denied,
    Failed,
    LLMSettings,
    Message,
    Price,
    StopReason,
    Transport,
    Unreachable,
    Usage,
    embedded_server,
    find_price,
)
from deadpan.llm.providers import find_key, find_url, is_loopback, split_name, start_advice
from deadpan.llm.settings import DEFAULT_MODEL, EMBEDDED_PREFIX, KEY_ENV

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model, ModelOutput

log = logging.getLogger(__name__)

OWN_RETRIES = ("openai/", "openai-api/", "anthropic/", "openrouter/")
"""Providers whose SDK retries by itself: those retries must not multiply with ours."""
REFUSED_RETRIES = 2
"""Retries worth making where nothing listens: a server that restarts is back within seconds."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling settings of a run, apart from the prompt."""

    temperature: float | None = 0.7
    top_p: float | None = 0.95
    seed: int = 0
    timeout: float = 120.0
    concurrency: int = 8
    base_url: str = ""
    key_env: str = KEY_ENV
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, least in (("temperature", 0), ("concurrency", 1), ("timeout", 0.1)):
            check_number(name, getattr(self, name), least)
        check_number("top_p", self.top_p, 0)
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p is {self.top_p:g}: give a number above 0 and at most 1")


def check_number(name: str, value: object, least: float) -> None:
    """Raise unless a setting is a number of at least `least`, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} is {value!r}: give a number")
    if value < least:
        raise ConfigError(f"{name} is {value:g}: give {least:g} or more")


def connect(name: str, sampling: Sampling) -> Answerer | Transport:
    """Return the model of a name; a missing key or an unknown provider is an error at once."""
    if name.startswith(PREFIX):
        return Baseline(name.removeprefix(PREFIX), sampling.seed)
    return InspectModel(name, sampling)


def price_of(name: str, own: tuple[float, float] | None = None) -> Price | None:
    """Return US dollars per million tokens; None if the price is unknown."""
    if name.startswith(PREFIX):
        return Price(0.0, 0.0, 0.0)
    return find_price(replace(LLMSettings(model=name), price=own))


def inspect_version() -> str:
    """Return the version of Inspect: its behaviour changes between releases, so every run stores it."""
    try:
        return version("inspect_ai")
    except PackageNotFoundError:
        return ""  # `connect` says what to install


def output_limit(name: str) -> int | None:
    """Return the largest number of tokens that a model can write, where Inspect knows it."""
    try:
        from inspect_ai.model import get_model_info
    except ImportError:
        return None  # `connect` says what to install
    info = get_model_info(name)
    return info.output_tokens if info else None


def is_local(name: str) -> bool:
    """Return whether a model runs on this machine: it gets one request at a time and one token limit."""
    return name.startswith(EMBEDDED_PREFIX)


class InspectModel:
    """A model behind one of Inspect's providers: a `Transport` that makes single attempts.

    Inspect's retries are off: ours are counted and bounded.
    """

    def __init__(self, name: str, sampling: Sampling) -> None:
        self.name = name
        self.sampling = sampling
        self.model = _inspect_model(name, sampling)
        self.answered = False
        self.left_out: set[str] = set()
        _record_requests(self.model)

    async def send(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> Answer:
        """Make one attempt; an error is classified by whether a retry may help."""
        config = request_config(settings, messages, replicate)
        sent: dict[str, Any] = {}
        token = _SENT.set(sent)
        try:
            async with asyncio.timeout(settings.timeout):
                output = await self._generate(messages[-1]["content"], config)
            answer = _answer(output, sent, self._left_out(settings, sent))
            if answer.text.strip() in settings.choices:  # a letter that filled its limit is complete
                answer = replace(answer, stop_reason="stop")
        except TimeoutError:
            raise _with_request(Failed("timeout", f"no answer within {settings.timeout:g} s"), sent) from None
        except Exception as bad:  # noqa: BLE001  a provider may raise anything; all of it is classified
            raise _with_request(self._classified(bad), sent) from None
        finally:
            _SENT.reset(token)
        self.answered = True
        return answer

    async def _generate(self, prompt: str, config: GenerateConfig) -> ModelOutput:
        """Ask once; a larger limit than the model has is not sent, so that its own maximum holds."""
        try:
            return await self.model.generate(prompt, config=config, cache=False)
        except Exception as bad:
            if not (self.answered and config.max_tokens and rejects_limit(bad)):
                raise
            log.warning("%s rejects max_tokens %d: its own maximum is used", self.name, config.max_tokens)
            unlimited = config.model_copy(update={"max_tokens": None})
            return await self.model.generate(prompt, config=unlimited, cache=False)

    def _left_out(self, settings: LLMSettings, sent: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the sampling parameters that Inspect did not send, and warn of each once."""
        present = _keys(sent)
        asked = [name for name in ("temperature", "top_p", "seed") if getattr(settings, name) is not None]
        absent = tuple(name for name in asked if sent and name.replace("_", "") not in present)
        for name in set(absent) - self.left_out:
            log.warning("%s does not take %s: it is not sent", self.name, name)
        self.left_out.update(absent)
        return absent

    def identity(self, settings: LLMSettings) -> str:
        """Return the name of the model."""
        return self.name

    def check(self, settings: LLMSettings) -> None:
        """Do nothing: what is missing was found when the model was connected."""

    async def close(self) -> None:
        """Close the connections, while their event loop still runs."""
        await self.model.api.aclose()

    def _classified(self, bad: BaseException) -> Exception:
        """Return Failed where a retry may help, a DeadpanError where it cannot."""
        from tenacity import RetryError

        if isinstance(bad, RetryError):
            bad = bad.last_attempt.exception() or bad
        if isinstance(bad, DeadpanError | Failed):
            return bad
        status = getattr(bad, "status_code", None)
        detail = " ".join(str(getattr(bad, "provider_message", "") or bad).split())[:160]
        if status == 402 or "insufficient_quota" in (getattr(bad, "code", ""), getattr(bad, "type", "")):
            return Denied(
                f"{self.name}: the account is out of credit ({detail}): top it up or use another key"
            )
        if status in (401, 403):
            return Denied(
                f"{self.name} rejects the key (HTTP {status}: {detail}): check the key and the account"
            )
        if status == 404:
            return ConfigError(f"{self.name} is not known there (HTTP 404: {detail}): check the model's name")
        if _refused(bad):
            url = find_url(LLMSettings(model=self.name, base_url=self.sampling.base_url))
            where = url or "the server's address"
            final = Unreachable(f"nothing listens at {where}: {start_advice(url)}")
            return Failed("refused", "connection refused", most=REFUSED_RETRIES, final=final)
        # A model that has never answered will reject the next request too.
        if status in (400, 422) and not self.answered:
            return ConfigError(
                f"{self.name} rejects the request (HTTP {status}: {detail}): change its settings"
            )
        wait = None
        decision = self.model.api.should_retry(bad) if isinstance(bad, Exception) else None
        if decision is not None and not isinstance(decision, bool):
            wait = decision.retry_after
        return Failed(_reason(bad, status), detail, wait)


_SENT: ContextVar[dict[str, Any]] = ContextVar("sent")
"""The request of the running attempt, for the journal."""


def _record_requests(model: Model) -> None:
    """Wrap the provider's call, so that the request it really sends is known."""
    generate = model.api.generate

    async def recorded(*args: Any, **options: Any) -> Any:
        result = await generate(*args, **options)
        sent = _SENT.get(None)
        if sent is not None and isinstance(result, tuple):
            sent.update(result[1].request)
        return result

    model.api.generate = recorded


def _keys(request: object) -> set[str]:
    """Return the names of all fields of a request, in one spelling for top_p and topP; messages have none."""
    if not isinstance(request, Mapping):
        return set()
    own = {str(key).replace("_", "").lower() for key in request}
    return own.union(*(_keys(value) for value in request.values()))


def _with_request(error: Exception, sent: Mapping[str, Any]) -> Exception:
    if isinstance(error, Failed):
        error.request = sent
    return error


def _refused(bad: BaseException) -> bool:
    """Return whether nothing listens at the address; the system's own error is wrapped several times."""
    cause: BaseException | None = bad
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError) or "connection attempts failed" in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _reason(bad: BaseException, status: object) -> str:
    """Return a word to count failures by."""
    if isinstance(status, int):
        return f"http_{status}"
    name = type(bad).__name__
    return "connection" if "Connection" in name else "timeout" if "Timeout" in name else "garbage"


def _answer(output: ModelOutput, sent: Mapping[str, Any], left_out: tuple[str, ...]) -> Answer:
    """Convert the output of Inspect; without a choice there is no answer, whatever the status."""
    if not output.choices:
        raise Failed("empty", "the answer has no choice")
    choice, usage = output.choices[0], output.usage
    stops: dict[str, StopReason] = {"stop": "stop", "content_filter": "content_filter"}
    stops |= {"max_tokens": "max_tokens", "model_length": "max_tokens"}
    counted = None
    if usage is not None:
        cached = usage.input_tokens_cache_read or 0
        # Inspect excludes cached tokens from the input; prices apply to all of it.
        counted = Usage(usage.input_tokens + cached, usage.output_tokens, cached, usage.reasoning_tokens or 0)
    stop = stops.get(choice.stop_reason, "other")
    return Answer(choice.message.text, stop, counted, output.model, dict(sent), left_out)


def _inspect_model(name: str, sampling: Sampling) -> Model:
    """Return a model of Inspect, or raise an error that says what is missing."""
    need("inspect_ai", "bench")
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import GenerateConfig, get_model

    target, options = _address(name, sampling)
    config = GenerateConfig(max_retries=0, max_connections=1 if is_local(name) else sampling.concurrency)
    try:
        return get_model(target, config=config, memoize=False, **options)
    except PrerequisiteError as bad:
        message = " ".join(re.sub(r"\[/?[a-z ]*\]", "", str(bad.message)).split()).removeprefix("ERROR: ")
        cure = "install it" if "pip install" in message else "set what is missing"
        raise ConfigError(f"{name} cannot be asked ({message.rstrip('.')}): {cure}") from None
    except ValueError as bad:
        raise ConfigError(
            f"{name}: {bad} Write provider/model, such as openai/gpt-5, {DEFAULT_MODEL} or {PREFIX}random"
        ) from None
    except ImportError as bad:
        raise ConfigError(
            f"{name}: its provider needs a library that is not installed ({bad}): install it"
        ) from None


def _address(name: str, sampling: Sampling) -> tuple[str, dict[str, Any]]:
    """Return the name Inspect knows a model by, and the options of its provider."""
    options: dict[str, Any] = {}
    if is_local(name):
        server = embedded_server(name.removeprefix(EMBEDDED_PREFIX))
        options = {"base_url": server.url, "api_key": server.key}
        name = f"openai-api/embedded/{server.name}"
    elif sampling.base_url:
        settings = LLMSettings(model=name, base_url=sampling.base_url, key_env=sampling.key_env)
        url = find_url(settings)
        options = {"base_url": url, "api_key": find_key(settings, url)[0]}
        name = f"openai-api/endpoint/{split_name(settings)[1]}"
    if name.startswith(OWN_RETRIES):
        options["max_retries"] = 0
    if is_loopback(options.get("base_url", "")):
        openai = need("openai", "llm")
        # A proxy of the environment must not see loopback.
        options["http_client"] = openai.DefaultAsyncHttpxClient(trust_env=False, timeout=None)
    return name, options
