"""Values from outside, checked against dataclasses: records, settings, items, study files, request bodies.

msgspec does the checking. Where a value does not fit, the first mistake is found again part by part and said
in words: which key, what it needs, what it got.
"""

from __future__ import annotations

import json
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from deadpan.errors import ConfigError
from deadpan.registry import unknown

_R = TypeVar("_R")


def encode(value: Any) -> Any:
    """Return a record as dicts, lists and plain values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: encode(getattr(value, name)) for name in field_types(type(value))}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    return value


def decode(value: Any, kind: type[_R]) -> _R:
    """Return a record from the result of `encode`; a ValueError names the first key that is wrong."""
    try:
        return cast(_R, _convert(value, kind))
    except ValueError:
        pass
    # NumPy's numbers and text are subclasses of Python's, which msgspec does not take for numbers and text.
    plain = _without_subclasses(value)
    try:
        return cast(_R, _convert(plain, kind))
    except ValueError:
        raise ValueError(_first_mistake(plain, kind, ())) from None


def encode_line(record: Any) -> str:
    """Return a record as one line of JSON; TypeError or ValueError says why it cannot be one."""
    return _LINE.encode(record)


def decode_line(line: bytes) -> Any:
    """Return the value of a line of JSON; ValueError or RecursionError says why there is none."""
    try:
        return msgspec.json.decode(line)
    except ValueError:
        # Slower, but it reads NaN, lone surrogates and a byte order mark, and says where an error is.
        return json.loads(line)


def json_schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a record type, which refuses unknown keys as `decode` does."""
    _, parts = msgspec.json.schema_components([kind], ref_template="{name}")
    return cast(dict[str, Any], _inlined(parts[kind.__name__], parts))


def field_types(kind: type[Any]) -> Mapping[str, Any]:
    """Return the types of the fields of a record type, in order."""
    if kind not in _TYPES:  # resolving hints is slow
        hints = get_type_hints(kind)
        _TYPES[kind] = {f.name: hints[f.name] for f in fields(kind)}
    return _TYPES[kind]


_TYPES: dict[type[Any], dict[str, Any]] = {}


def without_none(hint: Any) -> Any:
    """Return `bool` for `bool | None`; other types as they are."""
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        return parts[0] if len(parts) == 1 else hint
    return hint


def is_record_type(hint: Any) -> bool:
    """Return whether a type is a class of records."""
    return isinstance(hint, type) and is_dataclass(hint)


def is_mapping_type(hint: Any) -> bool:
    """Return whether a type is a mapping, with or without the types of its keys and values."""
    origin = get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _shallow(value: Any) -> Any:
    """Return what JSON cannot hold one level down; json writes the levels below in turn."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in field_types(type(value))}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_shallow)


def _inlined(schema: Any, parts: Mapping[str, Any]) -> Any:
    """Return a schema with every reference replaced, so that an editor shows what a field holds."""
    if isinstance(schema, list | tuple):
        return [_inlined(part, parts) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return _inlined(parts[schema["$ref"]], parts)
    found = {key: _inlined(part, parts) for key, part in schema.items()}
    return {**found, "additionalProperties": False} if "properties" in found else found


# ---------------------------------------------------------------- settings


def read_config(path: Path, kind: type[_R]) -> _R:
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


def config_from(table: Mapping[str, Any], kind: type[_R], *, source: str = "") -> _R:
    """Return a dataclass from plain values; errors start with `source`."""
    try:
        return decode(dict(table), kind)
    except (ValueError, ConfigError) as bad:  # a class may raise either in its own check
        raise ConfigError(f"{source}: {bad}" if source else str(bad)) from None


# ---------------------------------------------------------------- the check


def _convert(value: Any, kind: Any) -> Any:
    record = msgspec.convert(value, kind, dec_hook=_path)
    # msgspec ignores the unknown keys of dataclasses; a misspelt key must not be lost without a word.
    strange = _stranger_check(kind)
    if strange and strange(value):
        raise ValueError("unknown key")
    return record


def _path(kind: type, value: Any) -> Any:
    """Return a path, the one type of ours that msgspec does not know."""
    if kind is Path and isinstance(value, str | Path):
        return Path(value)
    raise ValueError(f"expected {kind.__name__}")


@cache
def _stranger_check(hint: Any) -> Callable[[Any], bool] | None:
    """Return a function that finds keys that are no fields; None for types that hold no records."""
    hint = without_none(hint)
    if is_record_type(hint):
        names = frozenset(field_types(hint))
        checks = {name: _stranger_check(part) for name, part in field_types(hint).items()}
        inner = [(name, check) for name, check in checks.items() if check]

        def strange(value: Any) -> bool:
            if not value:
                return False
            if not value.keys() <= names:
                return True
            return any(check(value[name]) for name, check in inner if name in value)

        return strange
    part = _part_type(hint)
    check = _stranger_check(part) if part else None
    if not check:
        return None
    if is_mapping_type(hint):
        return lambda value: any(map(check, (value or {}).values()))
    return lambda value: any(map(check, value or ()))


def _part_type(hint: Any) -> Any:
    """Return the type of the elements of a list or of the values of a mapping; None for other types."""
    if is_mapping_type(hint) and get_args(hint):
        return get_args(hint)[1]
    return get_args(hint)[0] if get_origin(hint) in (tuple, list) else None


def _without_subclasses(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_without_subclasses(part) for part in value]
    if isinstance(value, Mapping):
        return {_without_subclasses(key): _without_subclasses(part) for key, part in value.items()}
    base = next((kind for kind in (str, float) if isinstance(value, kind)), None)
    return value if base is None or type(value) is base else base(value)


# ---------------------------------------------------------------- mistakes in words


def _first_mistake(value: Any, hint: Any, at: tuple[str, ...]) -> str:
    """Return what is wrong with a value that does not fit; `at` is its path: [model] depth is model.depth."""
    kind = without_none(hint)
    record = is_record_type(kind)
    if record and isinstance(value, dict) and (said := _wrong_keys(value, kind, at)):
        return said
    for key, part, part_hint in _parts(value, kind):
        try:
            _convert(part, part_hint)
        except ValueError:
            return _first_mistake(part, part_hint, (*at, key))
    if record and isinstance(value, dict):
        return _own_check(value, kind, at)
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"{'.'.join(at)} needs {_expected(hint)}, got {shown}".lstrip()


def _wrong_keys(table: Mapping[Any, Any], kind: type[Any], at: tuple[str, ...]) -> str:
    names = field_types(kind)
    for key in table:
        if key not in names:
            return unknown("key", ".".join((*at, str(key))), [".".join((*at, name)) for name in names])
    for f in fields(kind):
        if f.default is MISSING and f.default_factory is MISSING and f.name not in table:
            return f"no key {'.'.join((*at, f.name))!r}: it needs {_expected(names[f.name])}"
    return ""


def _parts(value: Any, hint: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, value and type of everything directly inside a value."""
    if is_record_type(hint) and isinstance(value, dict):
        yield from ((name, value[name], part) for name, part in field_types(hint).items() if name in value)
    part = _part_type(hint)
    if part and is_mapping_type(hint) and isinstance(value, dict):
        yield from ((str(key), inner, part) for key, inner in value.items())
    elif part and isinstance(value, list | tuple):
        yield from ((str(number), inner, part) for number, inner in enumerate(value))


def _own_check(table: Mapping[str, Any], kind: type[Any], at: tuple[str, ...]) -> str:
    """Return what a class itself has against its values, which are all of the right type."""
    hints = field_types(kind)
    try:
        kind(**{name: _convert(value, hints[name]) for name, value in table.items()})
    except (TypeError, ValueError) as bad:
        return f"{'.'.join(at)}: {bad}" if at else str(bad)
    raise AssertionError(f"{kind.__name__} takes what msgspec refuses: {table!r}")


_WORDS: dict[Any, str] = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a path in quotes",
}


def _expected(hint: Any) -> str:
    """Return the name of a type for people who write JSON or TOML."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_expected(part) for part in args if part is not type(None))
    if origin is Literal:
        return "one of " + ", ".join(json.dumps(choice, ensure_ascii=False) for choice in args)
    if origin in (tuple, list):
        return f"a list, each {_expected(args[0])}"
    if is_record_type(hint):
        return f"a table with {', '.join(field_types(hint))}"
    name = "a table" if is_mapping_type(hint) else getattr(hint, "__name__", str(hint))
    return _WORDS.get(hint, str(name))
