"""TOML files as dataclasses, and back; errors name the key."""

from __future__ import annotations

import re
import tomllib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from deadpan.errors import ConfigError
from deadpan.fields import encode, field_types
from deadpan.registry import unknown
from deadpan.storage import write_text

C = TypeVar("C")

# ---------------------------------------------------------------- TOML -> dataclass


def read_config(path: Path, kind: type[C]) -> C:
    """Read a TOML file into a dataclass; every mistake is a ConfigError that starts with the file's name."""
    path = Path(path)
    try:
        # Windows editors write a byte order mark, which TOML does not allow.
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: a folder: name a TOML file in it") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text: save it as UTF-8") from None
    except (ValueError, RecursionError) as bad:
        raise ConfigError(f"{path}: not TOML: {bad}") from None
    return config_from(table, kind, source=str(path))


def config_from(table: Mapping[str, Any], kind: type[C], *, source: str = "") -> C:
    """Return a dataclass from plain values; errors start with `source`."""
    try:
        return cast(C, _record(dict(table), kind, ()))
    except ConfigError as bad:
        raise ConfigError(f"{source}: {bad}" if source else str(bad)) from None


def _record(table: Any, kind: type[Any], at: tuple[str, ...]) -> Any:
    """Return a table as a dataclass. `at` is its path for errors: [model] depth is model.depth."""
    if not isinstance(table, dict):
        raise _wrong(at, f"a table with {', '.join(field_types(kind))}", table)
    hints = field_types(kind)
    for key in table:
        if key not in hints:
            raise ConfigError(unknown("key", ".".join((*at, key)), [".".join((*at, h)) for h in hints]))
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    for name in required:
        if name not in table:
            raise ConfigError(f"no key {'.'.join((*at, name))!r}: it needs {_expected(hints[name])}")
    values = {key: _value(value, hints[key], (*at, key)) for key, value in table.items()}
    try:
        return kind(**values)
    except (TypeError, ValueError) as bad:  # from __post_init__
        raise ConfigError(f"{'.'.join(at)}: {bad}" if at else str(bad)) from None


def _value(value: Any, hint: Any, at: tuple[str, ...]) -> Any:
    """Return a value checked against its type; only 1 is converted to 1.0 and text to a path."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if is_dataclass(hint) and isinstance(hint, type):
        return _record(value, hint, at)
    if origin in (Union, types.UnionType):
        return _one_of(value, hint, at)
    if origin is Literal:
        # 1 == True in Python, but true in a configuration does not mean 1.
        if not any(value == choice and type(value) is type(choice) for choice in args):
            raise _wrong(at, _expected(hint), value)
        return value
    if origin in (tuple, list):
        if not isinstance(value, list | tuple):
            raise _wrong(at, _expected(hint), value)
        parts = (_value(part, args[0], (*at, str(number))) for number, part in enumerate(value))
        return tuple(parts) if origin is tuple else list(parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _wrong(at, _expected(hint), value)
        return {key: _value(part, args[1], (*at, key)) for key, part in value.items()}
    return _plain(value, hint, at)


def _one_of(value: Any, hint: Any, at: tuple[str, ...]) -> Any:
    """Return the value as the first type that accepts it; for `X | None`, errors are those of X."""
    choices = [part for part in get_args(hint) if part is not type(None)]
    if value is None and len(choices) < len(get_args(hint)):
        return None
    if len(choices) == 1:
        return _value(value, choices[0], at)
    for choice in choices:
        try:
            return _value(value, choice, at)
        except ConfigError:
            continue
    raise _wrong(at, _expected(hint), value)


def _plain(value: Any, kind: Any, at: tuple[str, ...]) -> Any:
    accepted: dict[Any, tuple[type, ...]] = {float: (int, float), Path: (str, Path)}
    fits = isinstance(value, accepted.get(kind, (kind,)))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise _wrong(at, _expected(kind), value)
    return kind(value) if kind in accepted else value


_WORDS: dict[Any, str] = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a path in quotes",
}


def _expected(hint: Any) -> str:
    """Return the name of a type for people who write TOML."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_expected(part) for part in args if part is not type(None))
    if origin is Literal:
        return "one of " + ", ".join(_toml(choice, ()) for choice in args)
    if origin in (tuple, list):
        return f"a list, each {_expected(args[0])}"
    if hint in _WORDS:
        return _WORDS[hint]
    return "a table" if origin or is_dataclass(hint) else getattr(hint, "__name__", str(hint))


def _wrong(at: tuple[str, ...], expected: str, value: Any) -> ConfigError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return ConfigError(f"{'.'.join(at)} needs {expected}, got {shown}")


# ---------------------------------------------------------------- dataclass -> TOML

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def write_config(path: Path, config: object) -> None:
    """Write a dataclass as TOML, atomically. None is omitted: TOML has no null."""
    write_text(path, to_toml(encode(config)))


def to_toml(table: Mapping[str, Any]) -> str:
    """Return plain values as TOML text that tomllib reads back exactly."""
    return "\n".join(_lines(table, ())).strip("\n") + "\n" if table else ""


def _lines(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    """Return lines, values before tables, since a value after a [table] line would belong to that table."""
    kept = {key: value for key, value in table.items() if value is not None}
    values = {key: value for key, value in kept.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_toml(value, (*at, key))}" for key, value in values.items()]
    for key, value in kept.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{'.'.join(map(_key, (*at, key)))}]", *_lines(value, (*at, key))]
    return lines


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"a TOML key is text, got {key!r}")
    return key if _BARE.fullmatch(key) else _text(key, (key,))


def _text(text: str, at: tuple[str, ...]) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(f"{'.'.join(map(ascii, at))}: a lone surrogate cannot be written as UTF-8")
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _toml(value: Any, at: tuple[str, ...]) -> str:
    """Return a value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ConfigError(f"{'.'.join(at)}: TOML holds whole numbers of 64 bits, {value} is larger")
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)  # exact, and spells inf and nan as TOML does
    writers: list[tuple[Any, Callable[[Any, tuple[str, ...]], str]]] = [
        (str, _text),
        (Path, lambda path, at: _text(path.as_posix(), at)),
        (Mapping, _inline_table),
        (Sequence, _array),
    ]
    for kind, writer in writers:
        if isinstance(value, kind):
            return writer(value, at)
    raise ConfigError(f"{'.'.join(at)}: {type(value).__name__} cannot be written as TOML")


def _array(values: Sequence[Any], at: tuple[str, ...]) -> str:
    return "[" + ", ".join(_toml(value, (*at, str(number))) for number, value in enumerate(values)) + "]"


def _inline_table(table: Mapping[str, Any], at: tuple[str, ...]) -> str:
    kept = {key: value for key, value in table.items() if value is not None}
    return "{" + ", ".join(f"{_key(key)} = {_toml(value, (*at, key))}" for key, value in kept.items()) + "}"
