"""Settings of a call to a language model, and the providers that its name may begin with.

All providers speak the OpenAI protocol. What one of them ignores without saying so is not sent, and recorded
as unsupported.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from deadpan import models
from deadpan.errors import ConfigError
from deadpan.registry import unknown

EMBEDDED_PREFIX = "embedded/"
DEFAULT_MODEL = "embedded/smollm2-135m"
LARGER_MODEL = "embedded/qwen2.5-coder-1.5b"
KEY_ENV = "OPENAI_API_KEY"
TIMEOUT = 120.0


def default_model() -> str:
    """Return the larger embedded model if it has been pulled, else the small one."""
    larger = LARGER_MODEL.removeprefix(EMBEDDED_PREFIX)
    return LARGER_MODEL if larger in models.installed() else DEFAULT_MODEL


@dataclass(frozen=True, slots=True, repr=False)
class LLMSettings:
    """Everything about a call except its messages. A value of None is not sent: the server decides."""

    model: str = field(default_factory=default_model)
    """`embedded/NAME`, `PROVIDER/NAME` (see `deadpan.llm.settings`), or a name that `base_url` knows."""
    base_url: str = ""
    """Empty: the provider's address; for OpenAI $DEADPAN_LLM_URL, $OPENAI_BASE_URL or the SDK's own."""
    key_env: str = KEY_ENV
    """The environment variable that holds the key, unless the provider has its own; empty: no key."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = 512
    frequency_penalty: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    """The server gets a seed drawn from this one, the prompt and the replicate: see `request_seed`."""
    reasoning_effort: str | None = None
    """The effort of a reasoning model: low, medium, high, or what else its server knows."""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """A JSON schema the answer must follow."""
    choices: tuple[str, ...] = ()
    """The only possible answers; a choice of one letter costs one token of the embedded model."""
    probabilities: bool = False
    """Also return how likely each choice was, from the server's log-probabilities of the first token."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Other fields of the request, for arguments that one provider has."""
    timeout: float = TIMEOUT
    """Seconds for one attempt, from sending to the last byte."""
    retries: int = 5
    concurrency: int = 8
    """Calls at a time; the embedded model always takes one at a time."""
    max_cost: float | None = None
    """US dollars a Client may spend; a call that could exceed it is not made."""
    price: tuple[float, float] | None = None
    """US dollars per million input and output tokens, for a model without a known price."""
    cache: bool = True
    threads: int = 0
    """Threads of the embedded model; 0: one per idle core, since on a busy machine one is faster than two."""

    def __post_init__(self) -> None:
        """Reject values that no server accepts, before anything is spent."""
        for name in ("stop", "choices"):
            value: Any = getattr(self, name)
            if not isinstance(value, Iterable):
                raise ConfigError(f"{name} is {value!r}: give a list of texts, or ()")
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        for name, kind in _KINDS:
            if not isinstance(getattr(self, name), kind):
                wanted = _KIND_NAMES.get(kind, "a table")
                raise ConfigError(f"{name} is {getattr(self, name)!r}: give {wanted}")
        if not self.model.strip():
            raise ConfigError(f"model is empty: name one, such as {DEFAULT_MODEL}")
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise ConfigError(f"{name} is {value!r}: give a number from {low:g} to {high:g}")
        for name in ("max_tokens", "seed", "retries", "concurrency", "threads"):
            if not isinstance(getattr(self, name), int | None):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: give a whole number")
        if self.price is not None:
            object.__setattr__(self, "price", _pair(self.price))
        if self.choices and self.schema is not None:
            raise ConfigError("choices and schema are both set: give one of them")

    def __repr__(self) -> str:
        """Return the model and what differs from the defaults."""
        shown = [f"model={self.model!r}"]
        for item in dataclasses.fields(self)[1:]:
            default = {} if item.name == "extra" else item.default
            if (value := getattr(self, item.name)) != default:
                shown.append(f"{item.name}={value!r}")
        return f"LLMSettings({', '.join(shown)})"

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Self:
        """Return settings from a table of a TOML file; an unknown key is an error that names the nearest."""
        return cls(**_known(config))

    def changed(self, **changes: Any) -> Self:
        """Return the same settings with some of them changed."""
        return dataclasses.replace(self, **_known(changes)) if changes else self

    @property
    def embedded(self) -> str:
        """The name of the embedded model; empty for any other model."""
        return self.model.removeprefix(EMBEDDED_PREFIX) if self.model.startswith(EMBEDDED_PREFIX) else ""

    def sampling(self) -> dict[str, Any]:
        """Return everything that shapes the answer, and so identifies a call."""
        names = (*_SAMPLING, "reasoning_effort", "schema")
        values = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        values |= {name: list(getattr(self, name)) for name in ("stop", "choices") if getattr(self, name)}
        return {**values, **({"probabilities": True} if self.probabilities else {}), **self.extra}


_SAMPLING = ("temperature", "top_p", "max_tokens", "frequency_penalty", "seed")
_KINDS: tuple[tuple[str, Any], ...] = (
    ("model", str),
    ("base_url", str),
    ("key_env", str),
    ("cache", bool),
    ("probabilities", bool),
    ("extra", Mapping),
    ("schema", Mapping | None),
    ("reasoning_effort", str | None),
)
_KIND_NAMES = {str: "a string", str | None: "a string", bool: "true or false"}
_RANGES = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("max_tokens", 1, 10_000_000),
    ("frequency_penalty", -2, 2),
    ("seed", 0, 2**31 - 1),
    ("timeout", 0.001, 86_400),
    ("retries", 0, 100),
    ("concurrency", 1, 100_000),
    ("max_cost", 0, 1e9),
    ("threads", 0, 1_024),
)


def _known(config: Mapping[str, Any]) -> Mapping[str, Any]:
    names = [item.name for item in dataclasses.fields(LLMSettings)]
    for key in config:
        if key not in names:
            raise ConfigError(unknown("language-model setting", key, names))
    return config


def _pair(price: Any) -> tuple[float, float]:
    try:
        first, second = (float(value) for value in price)
    except (TypeError, ValueError):
        raise ConfigError(f"price is {price!r}: give two numbers, US dollars per million tokens") from None
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise ConfigError(f"price is {price!r}: give two numbers of at least 0")
    return first, second


_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Provider:
    """Address of a provider's models. An empty URL stands for the SDK's default."""

    url: str = ""
    key_env: str = ""
    url_env: tuple[str, ...] = ()
    """Environment variables that may hold another address."""
    ignores: frozenset[str] = frozenset()
    """Fields of a request that its servers ignore silently."""
    hosted: bool = True
    """It runs its own servers: with another base_url, its name is part of the model's name there."""
    price_id: str | None = None
    """The provider in the table of prices; None: the one whose models have such names."""


OWN_SERVER = "own-server"
"""Not in the table of prices: a server of one's own has none."""
OPENAI = Provider(key_env=KEY_ENV, url_env=("DEADPAN_LLM_URL", "OPENAI_BASE_URL"), hosted=False)
PROVIDERS = {
    "openai": OPENAI,
    "anthropic": Provider(
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        ignores=frozenset({"seed", "frequency_penalty", "response_format"}),
    ),
    "google": Provider("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", price_id="openrouter"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY", price_id="mistral"),
    "grok": Provider("https://api.x.ai/v1", "XAI_API_KEY", price_id="x-ai"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", price_id="groq"),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY", price_id="together"),
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", price_id="deepseek"),
    "azure": Provider("", "AZURE_OPENAI_API_KEY", ("AZURE_OPENAI_BASE_URL",), hosted=False, price_id="azure"),
    "ollama": Provider("http://localhost:11434/v1", "", ("OLLAMA_BASE_URL",), hosted=False, price_id=OWN_SERVER),
    "vllm": Provider("http://localhost:8000/v1", "", ("VLLM_BASE_URL",), hosted=False, price_id=OWN_SERVER),
}
OTHER_SERVICE = "openai-api"
"""`openai-api/SERVICE/NAME`: a server whose address and key are in SERVICE_BASE_URL and SERVICE_API_KEY."""
STARTS = {
    11434: "start Ollama with `ollama serve`",
    8000: "start vLLM with `vllm serve MODEL`",
    8080: "start llama.cpp with `llama-server -m MODEL.gguf`",
    1234: "start LM Studio's server with `lms server start`",
}
"""Ports that tell which program should listen there."""


def split_name(settings: LLMSettings) -> tuple[Provider, str]:
    """Return a model's provider and the name its server knows it by."""
    first, slash, rest = settings.model.partition("/")
    service, mark, name = rest.partition("/")
    if first == OTHER_SERVICE and mark and name:
        variable = re.sub(r"\W", "_", service).upper()
        return Provider("", f"{variable}_API_KEY", (f"{variable}_BASE_URL",), hosted=False), name
    provider = PROVIDERS.get(first) if slash and rest else None
    if provider is None or (provider.hosted and settings.base_url.strip()):
        return OPENAI, settings.model
    return provider, rest


def is_hosted(settings: LLMSettings) -> bool:
    """Return whether a provider's own servers answer, and not one of the user's."""
    provider, _ = split_name(settings)
    return (provider.hosted or provider is OPENAI) and not _given_url(settings, provider)


def _given_url(settings: LLMSettings, provider: Provider) -> str:
    given = (os.environ.get(name, "").strip() for name in provider.url_env)
    return settings.base_url.strip() or next(filter(None, given), "")


def find_url(settings: LLMSettings) -> str:
    """Return the server's address, from the settings, the environment or the provider; empty: the SDK's."""
    provider, _ = split_name(settings)
    url = _given_url(settings, provider) or provider.url
    if not url and provider is PROVIDERS["azure"]:
        raise ConfigError(
            "azure needs the address of your resource: set base_url or AZURE_OPENAI_BASE_URL to "
            "https://RESOURCE.openai.azure.com/openai/v1"
        )
    if not url and provider is not OPENAI:
        raise ConfigError(f"{settings.model} has no address: set base_url or {provider.url_env[0]}")
    if not url and "/" in settings.model.removeprefix("openai/"):  # OpenAI's own server has no such names
        known = ", ".join(f"{each}/" for each in PROVIDERS)
        raise ConfigError(
            f"{settings.model}: its provider is not known: write one of {known} or {EMBEDDED_PREFIX} before "
            f"the name, or set base_url"
        )
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{url!r} is not the address of a server: write it as http://host:port/v1")
    return url.rstrip("/")


def find_key(settings: LLMSettings, url: str) -> tuple[str, str]:
    """Return the key for a server and the variable it came from. A server on loopback may need none."""
    provider, name = split_name(settings)
    variable = provider.key_env if settings.key_env == KEY_ENV else settings.key_env
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        if not variable or (settings.key_env == KEY_ENV and is_loopback(url)):
            return "none", ""
        raise ConfigError(f'no key for {name}: set {variable}, or key_env = "" if {url or "the server"} needs none')
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} has characters that no key has: copy it again")
    return key, variable


def is_loopback(url: str) -> bool:
    """Return whether a server runs on this machine."""
    return urlsplit(url).hostname in _LOOPBACK


def start_advice(url: str) -> str:
    """Return what to do where nothing listens at an address."""
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    known = STARTS.get(port or 0)
    return f"{known}, or change base_url" if known else "start the server, or change base_url"
