"""Settings of a system, checked against its constructor before anything is read or trained."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from deadpan.config import config_from
from deadpan.detect import SYSTEMS
from deadpan.detect.system import System
from deadpan.errors import ConfigError


def split_variant(system: str) -> tuple[str, dict[str, Any]]:
    """Return the registered name and the setting of `name:value`, such as frozen:mpnet-base."""
    name, colon, value = system.partition(":") if isinstance(system, str) else (system, "", "")
    SYSTEMS.check(name)
    if not colon:
        return name, {}
    key = SYSTEMS.load(name).variant
    if not key or not value:
        able = f"{name}:{key.upper()}, or {name} alone" if key else f"{name} alone"
        raise ConfigError(f"system {system!r}: write {able}")
    return name, {key: value}


def make(system: str, settings: Mapping[str, Any]) -> System:
    """Return a system; a wrong setting is an error that names it and what it needs."""
    name, own = split_variant(system)
    settings = {**settings, **own}
    check_settings(name, settings)
    made: System = SYSTEMS.load(name)(**settings)
    return made


def check_settings(system: str, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that the system does not have, or one of another type."""
    system, own = split_variant(system)
    settings = {**settings, **own}
    kind, open_ended = _kind(system)
    known = get_type_hints(kind)
    # The options of a network are a dataclass of their own, checked by its constructor.
    checked = {key: value for key, value in settings.items() if key in known or not open_ended}
    config_from(checked, kind, source=system)


@cache
def _kind(system: str) -> tuple[type[Any], bool]:
    """Return the constructor's arguments as a dataclass, and True where it takes others too."""
    loaded = SYSTEMS.load(system)
    taken = inspect.signature(loaded).parameters.values()
    hints = get_type_hints(loaded.__init__)
    named = [each for each in taken if each.kind is not inspect.Parameter.VAR_KEYWORD]
    rows = [(each.name, _plain(hints[each.name]), field(default=each.default)) for each in named]
    return make_dataclass(system, rows, namespace={}), len(named) < len(taken)


def _plain(hint: Any) -> Any:
    """Return a type that a configuration can check; a blend's systems are checked by the blend."""
    parts = [get_origin(part) for part in (hint, *get_args(hint))]
    return Any if any(part in (Sequence, Mapping) for part in parts) else hint


def parse_settings(pairs: Sequence[str], systems: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse `key=value` (all systems) and `system.key=value` (one of them); values are JSON if possible."""
    parsed: dict[str, dict[str, Any]] = {system: {} for system in systems}
    for pair in pairs:
        key, mark, word = pair.partition("=")
        if not mark or not key:
            raise ConfigError(f"--setting {pair}: write NAME=VALUE, such as --setting strength=2")
        try:
            value = json.loads(word)
        except (ValueError, RecursionError):
            value = word
        # A variant may have dots of its own: frozen:qwen2.5-coder-1.5b.strength=1
        owners = [system for system in systems if key.startswith(f"{system}.")]
        if "." in key and not owners:
            owner = key.rpartition(".")[0]
            raise ConfigError(f"--setting {pair}: {owner!r} is not among the systems {', '.join(systems)}")
        for system in owners[:1] or list(systems):
            parsed[system][key.removeprefix(f"{system}.")] = value
    return parsed
