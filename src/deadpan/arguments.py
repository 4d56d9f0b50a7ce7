"""Checks of arguments: a wrong one is an error that says what to pass instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from deadpan.errors import ConfigError, DataError
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction

_T = TypeVar("_T")
V = TypeVar("V")

LARGEST_SEED = 2**32 - 1
"""The largest seed that NumPy and PyTorch both accept."""


def check_records(values: object, kind: type[_T], name: str, hint: str) -> list[_T]:
    """Return the values as a list if every one is a record of this kind."""
    return list(iter_records(values, kind, name, hint))


def iter_records(values: object, kind: type[_T], name: str, hint: str) -> Iterator[_T]:
    """Yield the values, and raise an error at the first that is not a record of this kind."""
    if not _is_listing(values):
        raise DataError(f"{name} must be {kind.__name__} records, got {_kind(values)}: {hint}")
    assert isinstance(values, Iterable)
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            raise DataError(f"{name} must be {kind.__name__} records, but number {place} is {_kind(value)}: {hint}")
        yield value


def iter_examples(values: object) -> Iterator[Example]:
    """Yield Examples, and raise an error at the first value that is something else."""
    return iter_records(values, Example, "examples", "read them with read_dataset")


def check_examples(values: object) -> list[Example]:
    """Return the values as a list if every one is an Example."""
    return list(iter_examples(values))


def check_predictions(values: object) -> list[Prediction]:
    """Return the values as a list if every one is a Prediction."""
    return check_records(values, Prediction, "predictions", "use Detector.predict, or Prediction(example_id, label)")


def check_mapping(values: object, name: str, hint: str) -> Mapping[str, object]:
    """Return the mapping if it is one and its keys are names."""
    if not isinstance(values, Mapping):
        raise DataError(f"{name} must be a mapping, got {_kind(values)}: {hint}")
    for key in values:
        if not isinstance(key, str):
            raise DataError(f"{name} must have names as keys, got {key!r}: {hint}")
    return values


def check_path(path: Path | str, name: str = "a file") -> Path:
    """Return the path if it is one."""
    if not isinstance(path, str | Path):
        raise ConfigError(f"{name} must be a path, got {_kind(path)}: pass text or a pathlib.Path")
    if "\0" in str(path):
        raise ConfigError(f"{name} must be a path, got {str(path)!r}: a path has no NUL characters")
    return Path(path)


def check_list(values: Iterable[V], name: str) -> list[V]:
    """Return the values as a list; text and what cannot be iterated over are errors."""
    if not _is_listing(values):
        raise DataError(f"{name} must be a list, got {_kind(values)}: pass one value per row")
    return list(values)


def check_names(values: Iterable[str], name: str) -> list[str]:
    """Return the values as a list if every one is text."""
    names = check_list(values, name)
    for value in names:
        if not isinstance(value, str):
            raise ConfigError(f"{name} must be names, got {_kind(value)}: pass text")
    return names


def check_text(value: str, name: str) -> str:
    """Return the value if it is text."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, got {_kind(value)}: pass a str")
    return value


def check_flag(value: bool, name: str) -> bool:
    """Return the value if it is True or False (also 1 and 0, and NumPy's)."""
    if getattr(value, "shape", ()) != () or not _equals_0_or_1(value):
        raise ConfigError(f"{name} must be True or False: got {_kind(value)}")
    return bool(value)


def check_labels(values: Iterable[V], name: str) -> list[V]:
    """Return labels as a list if every one is True, False (also 1 and 0) or None."""
    labels = check_list(values, name)
    for place, label in enumerate(labels):
        known = label is None or (not isinstance(label, str | bytes) and _equals_0_or_1(label))
        if not known:
            raise DataError(
                f"{name} must be True, False or None, but number {place} is {label!r}: "
                "True means sarcastic, None that an answer could not be read"
            )
    return labels


def check_whole(value: int, name: str, least: int = 0) -> int:
    """Return a whole number if it is at least `least`."""
    number = _whole(value)
    if number is None or number < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}: got {value!r}")
    return number


def check_share(value: float, name: str) -> float:
    """Return a number if it lies between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{name} must be a number between 0 and 1: got {value!r}")
    return value


def check_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a system as a dict; None is no settings."""
    given = {} if settings is None else settings
    return dict(check_mapping(given, "settings", "pass {name: value}, such as {'turns': 2}"))


def check_progress(progress: Progress | None) -> Progress:
    """Return the function that shows progress; None shows nothing."""
    if progress is not None and not callable(progress):
        raise ConfigError(f"progress must be a function, got {_kind(progress)}: pass one, or None to show nothing")
    return progress or silent


def check_seed(seed: int) -> int:
    """Return the random seed if every library accepts it."""
    number = _whole(seed)
    if number is None or not 0 <= number <= LARGEST_SEED:
        raise ConfigError(f"a random seed is a whole number from 0 to {LARGEST_SEED:,}: got {seed!r}")
    return number


def _is_listing(values: object) -> bool:
    """Return whether values can be iterated over one by one; a NumPy array without dimensions cannot."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return False
    return getattr(values, "shape", None) != ()


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or hasattr(value, "__len__"):  # an array is no number, even without dimensions
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _equals_0_or_1(label: object) -> bool:
    try:
        return bool(label == 0) or bool(label == 1)
    except (TypeError, ValueError):
        return False


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else f"a {type(value).__name__}"


def parse_pair(word: str, option: str, example: str) -> tuple[str, Any]:
    """Return NAME=VALUE as a user typed it, with the value as JSON, or as text if it is none."""
    name, mark, value = word.partition("=")
    if not mark or not name:
        raise ConfigError(f"{option} {word}: write NAME=VALUE, such as {example}")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
