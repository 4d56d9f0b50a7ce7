"""Models by name: Inspect's providers, any OpenAI-compatible address, the embedded one, the baselines."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from deadpan.bench.asking import Answerer, Question, Reply
from deadpan.bench.baselines import PREFIX, Baseline
from deadpan.errors import ConfigError, DeadpanError, ModelError, need
from deadpan.llm import Price, Settings, embedded_server, find_price
from deadpan.llm.retries import Failed
from deadpan.llm.settings import DEFAULT_MODEL, EMBEDDED_PREFIX

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

OWN_RETRIES = ("openai/", "openai-api/", "anthropic/", "openrouter/")
"""Providers whose SDK would retry by itself; its retries must not multiply with ours."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOPELESS = {401: "check the key", 403: "check the key and the account", 404: "check the model's name"}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How models are asked, beside the prompt."""

    temperature: float | None = 0.7
    top_p: float | None = 0.95
    seed: int = 0
    timeout: float = 120.0
    concurrency: int = 8
    base_url: str = ""
    key_env: str = "OPENAI_API_KEY"


def connect(name: str, sampling: Sampling) -> Answerer:
    """What answers under a name; a missing key or an unknown provider is said before anything is asked."""
    if name.startswith(PREFIX):
        return Baseline(name.removeprefix(PREFIX), sampling.seed)
    return InspectModel(name, sampling)


def price_of(name: str, own: tuple[float, float] | None = None) -> Price | None:
    """Dollars per million tokens, dated; None where nobody knows."""
    if name.startswith(PREFIX):
        return Price(0.0, 0.0, 0.0)
    return find_price(replace(Settings(model=name), price=own))


def inspect_version() -> str:
    """Which Inspect asks: what a score means moves between its releases, so every run names its own."""
    try:
        return version("inspect_ai")
    except PackageNotFoundError:
        return ""  # connecting says what to install


def is_local(name: str) -> bool:
    """A model that runs here: asked one at a time, never with a larger limit."""
    return name.startswith(EMBEDDED_PREFIX)


class InspectModel:
    """A model behind one of Inspect's providers. Its retries are off: ours are counted and bounded."""

    def __init__(self, name: str, sampling: Sampling) -> None:
        self.name = name
        self.sampling = sampling
        self.model = _inspect_model(name, sampling)
        self.answered = False

    async def ask(self, question: Question, max_tokens: int) -> Reply:
        """One attempt; what went wrong is sorted into try again and hopeless."""
        from inspect_ai.model import GenerateConfig

        local = is_local(self.name)
        config = GenerateConfig(
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            max_tokens=max_tokens,
            stop_seqs=["\n"] if local else None,
            seed=self.sampling.seed * 1000 + question.run if local else None,
        )
        try:
            async with asyncio.timeout(self.sampling.timeout):
                output = await self.model.generate(question.prompt, config=config, cache=False)
        except TimeoutError:
            raise Failed("timeout", f"nothing within {self.sampling.timeout:g} s") from None
        except Exception as bad:  # noqa: BLE001  a provider may raise anything; all of it is sorted below
            raise self._sorted(bad) from None
        reply = _reply(output)
        self.answered = True
        return reply

    async def close(self) -> None:
        """Let go of its connections, while the loop they belong to still runs."""
        await self.model.api.aclose()

    def _sorted(self, bad: BaseException) -> Exception:
        """Failed where another attempt may help, a DeadpanError where none will."""
        from tenacity import RetryError

        if isinstance(bad, RetryError):
            bad = bad.last_attempt.exception() or bad
        if isinstance(bad, DeadpanError | Failed):
            return bad
        status = getattr(bad, "status_code", None)
        said = " ".join(str(getattr(bad, "provider_message", "") or bad).split())[:160]
        if status in HOPELESS:
            return ConfigError(f"{self.name} cannot be asked (HTTP {status}: {said}): {HOPELESS[status]}")
        # A request that was never once understood will not be the next time either.
        if status in (400, 422) and not self.answered:
            return ModelError(f"{self.name} refuses the request (HTTP {status}: {said}): change its settings")
        wait = None
        decision = self.model.api.should_retry(bad) if isinstance(bad, Exception) else None
        if decision is not None and not isinstance(decision, bool):
            wait = decision.retry_after
        return Failed(_word(bad, status), said, wait)


def _word(bad: BaseException, status: object) -> str:
    """A word to count a failure by."""
    if isinstance(status, int):
        return f"http_{status}"
    name = type(bad).__name__
    return "connection" if "Connection" in name else "timeout" if "Timeout" in name else "garbage"


def _reply(output: ModelOutput) -> Reply:
    """Inspect's output as ours; without a choice in it there is no answer, whatever the status was."""
    if not output.choices:
        raise Failed("empty", "an answer without a choice")
    choice, usage = output.choices[0], output.usage
    stop = "max_tokens" if choice.stop_reason in ("max_tokens", "model_length") else choice.stop_reason
    return Reply(
        choice.message.text,
        stop,
        output.model,
        # Inspect takes cached tokens out of the input; prices are for all of it, some cheaper.
        (usage.input_tokens + (usage.input_tokens_cache_read or 0)) if usage else 0,
        usage.output_tokens if usage else 0,
        (usage.input_tokens_cache_read or 0) if usage else 0,
        usage is not None,
    )


def _inspect_model(name: str, sampling: Sampling) -> Model:
    """Inspect's model, or one line that says what is missing."""
    need("inspect_ai", "bench")
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import GenerateConfig, get_model

    target, options = _address(name, sampling)
    config = GenerateConfig(max_retries=0, max_connections=1 if is_local(name) else sampling.concurrency)
    try:
        return get_model(target, config=config, memoize=False, **options)
    except PrerequisiteError as bad:
        said = " ".join(re.sub(r"\[/?[a-z ]*\]", "", str(bad.message)).split()).removeprefix("ERROR: ")
        cure = "install it" if "pip install" in said else "set what is missing"
        raise ConfigError(f"{name} cannot be asked ({said.rstrip('.')}): {cure}") from None
    except ValueError as bad:
        raise ConfigError(
            f"{name}: {bad} Name it provider/model, such as openai/gpt-5, {DEFAULT_MODEL} or {PREFIX}random"
        ) from None
    except ImportError as bad:
        raise ConfigError(f"{name}: its provider needs a library that is not here ({bad})") from None


def _address(name: str, sampling: Sampling) -> tuple[str, dict[str, Any]]:
    """The name Inspect knows a model by, and what its provider is given."""
    options: dict[str, Any] = {}
    if is_local(name):
        server = embedded_server(name.removeprefix(EMBEDDED_PREFIX))
        options = {"base_url": server.url, "api_key": server.key}
        name = f"openai-api/embedded/{server.name}"
    elif sampling.base_url:
        parts = urlsplit(sampling.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{sampling.base_url!r} is not an address: write it as http://host:port/v1")
        key = os.environ.get(sampling.key_env, "").strip() if sampling.key_env else ""
        if not key and parts.hostname not in LOOPBACK and sampling.key_env:
            raise ConfigError(f"no key for {name}: set {sampling.key_env}, or name its variable by --key-env")
        options = {"base_url": sampling.base_url, "api_key": key or "none"}
        name = f"openai-api/endpoint/{name.removeprefix('openai/')}"
    if name.startswith(OWN_RETRIES):
        options["max_retries"] = 0
    if urlsplit(options.get("base_url", "")).hostname in LOOPBACK:
        openai = need("openai", "llm")
        # A proxy of the environment must not see loopback.
        options["http_client"] = openai.DefaultAsyncHttpxClient(trust_env=False, timeout=sampling.timeout)
    return name, options
