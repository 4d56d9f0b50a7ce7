"""Records as plain JSON values, and back, checked against their types."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

R = TypeVar("R")
Decoder = Callable[[Any], Any]
_TYPES: dict[type[Any], dict[str, Any]] = {}


def encode(value: Any) -> Any:
    """Return a record as dicts and lists that JSON can hold."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: encode(getattr(value, name)) for name in field_names(type(value))}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    return value


def decode(value: Any, kind: type[R]) -> R:
    """Return a record from the result of `encode`; TypeError or ValueError names the wrong field."""
    return cast(R, _decoder(cast(Any, kind))(value))


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of a record type, in order."""
    return tuple(field_types(kind))


def field_types(kind: type[Any]) -> dict[str, Any]:
    """Return the types of the fields of a record type, in order."""
    if kind not in _TYPES:  # resolving hints is slow
        hints = get_type_hints(kind)
        _TYPES[kind] = {f.name: hints[f.name] for f in fields(kind)}
    return _TYPES[kind]


@cache
def _decoder(hint: Any) -> Decoder:
    """Return the function that checks and converts a JSON value to a type."""
    origin = get_origin(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _record_decoder(hint)
    if origin is tuple:
        return _tuple_decoder(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _optional_decoder(next(part for part in get_args(hint) if part is not type(None)))
    if origin is Literal:
        return _choice_decoder(get_args(hint))
    if hint is Any:
        return lambda value: value
    return _plain_decoder(dict if origin else hint)


def _record_decoder(kind: type) -> Decoder:
    decoders = {name: _decoder(hint) for name, hint in field_types(kind).items()}
    required = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def record(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object with {', '.join(decoders)}, got {type(value).__name__}")
        if not value.keys() <= decoders.keys():
            raise ValueError(f"unknown field {sorted(value.keys() - decoders.keys())[0]!r}")
        if not required <= value.keys():
            raise ValueError(f"no field {sorted(required - value.keys())[0]!r}")
        decoded = {}
        for name, part in value.items():
            try:
                decoded[name] = decoders[name](part)
            except (TypeError, ValueError) as bad:
                raise type(bad)(f"{name}: {bad}") from None
        return kind(**decoded)

    return record


def _tuple_decoder(part: Any) -> Decoder:
    decoder = _decoder(part)

    def sequence(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return tuple(decoder(each) for each in value)

    return sequence


def _optional_decoder(part: Any) -> Decoder:
    decoder = _decoder(part)
    return lambda value: None if value is None else decoder(value)


def _choice_decoder(choices: tuple[str, ...]) -> Decoder:
    def choice(value: Any) -> Any:
        if value not in choices:
            raise ValueError(f"expected one of {', '.join(repr(c) for c in choices)}, got {value!r}")
        return value

    return choice


def _plain_decoder(kind: type) -> Decoder:
    # Other JSON writers may write 1 for 1.0; nothing else is converted.
    accepted: Any = (int, float) if kind is float else kind

    def plain(value: Any) -> Any:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
        return float(value) if kind is float else value

    return plain
