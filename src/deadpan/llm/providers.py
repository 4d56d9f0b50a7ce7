"""Providers of language models by name: `anthropic/...`, `ollama/...` and others, with address and key.

All of them speak the OpenAI protocol. What one of them ignores without saying so is not sent, and recorded
as unsupported.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from deadpan.errors import ConfigError
from deadpan.llm.settings import EMBEDDED_PREFIX, KEY_ENV, LLMSettings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


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
    "ollama": Provider(
        "http://localhost:11434/v1", "", ("OLLAMA_BASE_URL",), hosted=False, price_id=OWN_SERVER
    ),
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
        raise ConfigError(
            f'no key for {name}: set {variable}, or key_env = "" if {url or "the server"} needs none'
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} has characters that no key has: copy it again")
    return key, variable


def is_loopback(url: str) -> bool:
    """Return whether a server runs on this machine."""
    return urlsplit(url).hostname in LOOPBACK


def start_advice(url: str) -> str:
    """Return what to do where nothing listens at an address."""
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    known = STARTS.get(port or 0)
    return f"{known}, or change base_url" if known else "start the server, or change base_url"
