"""Settings as people type them, checked against what a system takes before anything is read or learnt."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from deadpan.config import config_from
from deadpan.detect import SYSTEMS
from deadpan.detect.system import System


def make(system: str, settings: Mapping[str, Any]) -> System:
    """A system, or an error that names the setting that is wrong and what it needs."""
    check_settings(system, settings)
    made: System = SYSTEMS.load(system)(**settings)
    return made


def check_settings(system: str, settings: Mapping[str, Any]) -> None:
    """Refuse a setting the system does not have, or one of another type."""
    kind, open_ended = _kind(system)
    known = get_type_hints(kind)
    # A network's own options are a dataclass, which it checks itself when it is made.
    checked = {key: value for key, value in settings.items() if key in known or not open_ended}
    config_from(checked, kind, source=system)


@cache
def _kind(system: str) -> tuple[type[Any], bool]:
    """What the constructor takes as a dataclass, and whether it takes more than that."""
    loaded = SYSTEMS.load(system)
    taken = inspect.signature(loaded).parameters.values()
    hints = get_type_hints(loaded.__init__)
    named = [each for each in taken if each.kind is not inspect.Parameter.VAR_KEYWORD]
    rows = [(each.name, _plain(hints[each.name]), field(default=each.default)) for each in named]
    return make_dataclass(system, rows, namespace={}), len(named) < len(taken)


def _plain(hint: Any) -> Any:
    """A type a configuration can hold; what holds more (a blend's systems) is checked by its owner."""
    parts = [get_origin(part) for part in (hint, *get_args(hint))]
    return Any if any(part in (Sequence, Mapping) for part in parts) else hint
