"""How a language model is called: which one, how it samples, and how patient we are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from deadpan.errors import ConfigError
from deadpan.registry import unknown

DEFAULT_MODEL = "embedded/smollm2-135m"
EMBEDDED_PREFIX = "embedded/"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything about a call but its messages. What is None is left to the server."""

    model: str = DEFAULT_MODEL
    """`embedded/NAME`, or the name an endpoint knows; a leading `openai/` is taken off it."""
    base_url: str = ""
    """Empty: $DEADPAN_LLM_URL, else $OPENAI_BASE_URL, else the SDK's own."""
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key; empty for a server that needs none."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = 512
    frequency_penalty: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    """The server gets seed + replicate, so that replicates differ and each can be made again."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Other fields of the request, such as reasoning_effort."""
    timeout: float = 120.0
    """Seconds for one attempt, from sending to the last byte."""
    retries: int = 5
    concurrency: int = 8
    """Calls at a time; the embedded model takes one at a time whatever this says."""
    max_cost: float | None = None
    """US dollars a Client may spend; the call that could go past it is not made."""
    price: tuple[float, float] | None = None
    """US dollars per million input and output tokens, for a model prices.toml does not have."""
    cache: bool = True
    threads: int = 1
    """Of the embedded model; on a busy machine one is faster than two."""

    def __post_init__(self) -> None:
        """Refuse what no server could make sense of, before anything is spent."""
        stop: Any = self.stop
        object.__setattr__(self, "stop", (stop,) if isinstance(stop, str) else tuple(stop))
        for name, kind in _KINDS:
            if not isinstance(getattr(self, name), kind):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: give {_KIND_NAMES[kind]}")
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

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Self:
        """Settings from a table of a TOML file; an unknown key names the nearest one."""
        return cls(**_known(config))

    def changed(self, **changes: Any) -> Self:
        """The same settings but for some of them."""
        return dataclasses.replace(self, **_known(changes)) if changes else self

    @property
    def embedded(self) -> str:
        """The name of the embedded model, empty for any other."""
        return self.model.removeprefix(EMBEDDED_PREFIX) if self.model.startswith(EMBEDDED_PREFIX) else ""

    def sampling(self) -> dict[str, Any]:
        """What shapes the answer, and so is part of a cached answer's key."""
        names = ("temperature", "top_p", "max_tokens", "frequency_penalty", "seed")
        chosen = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.stop:
            chosen["stop"] = list(self.stop)
        return {**chosen, **self.extra}


_KINDS = (("model", str), ("base_url", str), ("key_env", str), ("cache", bool), ("extra", Mapping))
_KIND_NAMES = {str: "a string", bool: "true or false", Mapping: "a table"}
_RANGES = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("max_tokens", 1, 10_000_000),
    ("frequency_penalty", -2, 2),
    ("seed", 0, 2**31 - 1),
    ("timeout", 0.001, 86_400),
    ("retries", 0, 100),
    ("concurrency", 1, 1_000),
    ("max_cost", 0, 1e9),
    ("threads", 1, 1_024),
)


def _known(config: Mapping[str, Any]) -> Mapping[str, Any]:
    names = [each.name for each in dataclasses.fields(Settings)]
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
