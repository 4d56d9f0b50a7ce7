"""Items: one question with six options each, read from JSON lines or TOML and checked; their JSON Schema."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, DataError
from deadpan.records import Item
from deadpan.registry import unknown
from deadpan.storage import atomic
from deadpan.validation import decode, encode

LETTERS = "ABCDEF"
OPTIONS = len(LETTERS)
CHANCE = 1 / OPTIONS
CATEGORIES = (
    "intended_meaning",
    "target_identification",
    "sentiment_reversal",
    "sincere_control",
    "context_dependence",
)
CHECKS = ("enough_context", "one_best_answer", "not_obvious_from_keywords", "plausible_distractors", "safe")
"""The quality checklist that every item answers."""
MISTAKES = ("literal", "wrong target", "wrong warmth", "missed detail", "over-reading", "other view", "other")
"""The kinds of misreading for which a wrong option stands."""
ORGANIC = "organic_reply"
"""The category of items made of real replies, whose options are two to six replies and no readings."""

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)?")


def family(item: Item) -> str:
    """Return the family of an item: its minimal pair, or the item alone. Scores resample whole families."""
    return item.pair_id or item.id


WRITTEN = ("speaker", "mistakes", "cue", "difficulty", "author", "licence", "canary")
"""Fields that `bench check` also wants of every item; a draft without them can be run."""


def item_from(value: Any) -> Item:
    """Return an item from plain values, or raise a DataError that says what to correct."""
    if not isinstance(value, Mapping):
        raise DataError("not an item, which is a table of fields: see `deadpan bench sets --schema`")
    try:
        item = decode(dict(value), Item)
    except (TypeError, ValueError) as bad:
        raise DataError(f"not an item ({bad}): see `deadpan bench sets --schema`") from None
    for name in ("id", "version", "utterance", "question"):
        if not getattr(item, name).strip():
            raise DataError(f"{name} is empty: every item needs one")
    if not ID.fullmatch(item.id):
        raise DataError(f"item {item.id!r}: its id becomes a file name; use letters, digits, . _ and -")
    if not LANGUAGE.fullmatch(item.language):
        raise DataError(f"item {item.id!r} has language {item.language!r}: give a code such as en or ko")
    if item.category == ORGANIC and not 2 <= len(item.options) <= OPTIONS:
        raise DataError(f"item {item.id!r} has {len(item.options)} options: give 2 to {OPTIONS}")
    if item.category != ORGANIC and len(item.options) != OPTIONS:
        raise DataError(f"item {item.id!r} has {len(item.options)} options: give exactly {OPTIONS}")
    if any(not option.strip() for option in item.options):
        raise DataError(f"item {item.id!r} has an empty option: write it or replace it")
    if not 0 <= item.answer < len(item.options):
        last = len(item.options) - 1
        raise DataError(f"item {item.id!r} has answer {item.answer}: give the index of an option, 0 to {last}")
    if item.category not in (*CATEGORIES, ORGANIC):
        raise DataError(f"item {item.id!r}: {unknown('category', item.category, list(CATEGORIES))}")
    if strange := sorted(item.checks.keys() - set(CHECKS)):
        raise DataError(f"item {item.id!r}: {unknown('check', strange[0], list(CHECKS))}")
    if item.mistakes and len(item.mistakes) != len(item.options):
        raise DataError(f"item {item.id!r} has {len(item.mistakes)} mistakes: give one per option, empty for the best")
    if strange := [each for each in item.mistakes if each and each not in MISTAKES]:
        raise DataError(f"item {item.id!r}: {unknown('mistake', strange[0], list(MISTAKES))}")
    return item


def read_items(path: Path) -> list[Item]:
    """Read the items of a .jsonl or .toml file; an invalid item is an error that names its line."""
    path = Path(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such set: name a file, or one of `deadpan bench sets`") from None
    except IsADirectoryError:
        raise DataError(f"{path}: a folder, not a set; name the .jsonl or .toml file in it") from None
    return items_from_bytes(raw, path)


def items_from_bytes(raw: bytes, path: Path) -> list[Item]:
    """Read items from a file's bytes; the suffix of `path` gives the format."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            f"{path}: not UTF-8 text: if it is a sealed set, open it with `deadpan bench private open`"
        ) from None
    if path.suffix == ".toml":
        placed = _toml_values(text, path)
    elif path.suffix == ".jsonl":
        placed = _json_values(text, path)
    else:
        raise DataError(f"{path}: a set is a .jsonl or .toml file")
    items, wrong = [], []
    for place, value in placed:
        try:
            items.append(item_from(value))
        except DataError as bad:
            wrong.append(f"{place}: {bad}")
    if wrong:
        rest = [f"... and {len(wrong) - _SHOWN_ERRORS} more"] if len(wrong) > _SHOWN_ERRORS else []
        raise DataError("\n".join([*wrong[:_SHOWN_ERRORS], *rest]))
    if not items:
        raise DataError(f"{path}: no items in it: see `deadpan bench sets --schema`")
    return items


_SHOWN_ERRORS = 20


def _json_values(text: str, path: Path) -> Iterable[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"{path}:{number}", json.loads(line)
            except (ValueError, RecursionError) as bad:
                raise DataError(f"{path}:{number}: not a JSON line ({bad}): check that the file is complete") from None


def _toml_values(text: str, path: Path) -> Iterable[tuple[str, Any]]:
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as bad:
        raise DataError(f"{path}: not TOML: {bad}") from None
    items = table.get("item")
    if not isinstance(items, list):
        raise DataError(f"{path}: no [[item]] tables in it: see `deadpan bench sets --schema`")
    return [(f"{path}: item {number}", value) for number, value in enumerate(items, 1)]


def items_to_bytes(items: Iterable[Item]) -> bytes:
    """Return items as JSON lines; equal items give equal bytes."""
    return "".join(json.dumps(_stored(item), ensure_ascii=False) + "\n" for item in items).encode()


def _stored(item: Item) -> dict[str, Any]:
    """Return an item as it is stored; sets without the later fields keep the bytes and the hash they always had."""
    stored: dict[str, Any] = encode(item)
    return {name: value for name, value in stored.items() if value or name not in ("after", "mistakes", "cue")}


def check_items_name(path: Path) -> None:
    """Raise unless a file that gets items has a name by which they can be read again."""
    if path.suffix != ".jsonl":
        raise ConfigError(f"{path}: items are written as JSON lines: name it .jsonl")


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as JSON lines, atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(items_to_bytes(items))


SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def item_schema() -> dict[str, Any]:
    """Return the JSON Schema of one item: a line of a .jsonl set, or an [[item]] table of a .toml set."""
    text: dict[str, Any] = {"type": "string", "minLength": 1}
    turn = {
        "type": "object",
        "properties": {"speaker": {"type": "string"}, "text": text},
        "required": ["speaker", "text"],
        "additionalProperties": False,
    }
    described: dict[str, tuple[str, dict[str, Any]]] = {
        "id": ("Names the item; unique in its set.", {"type": "string", "pattern": f"^{ID.pattern}$"}),
        "version": ("Of the set, three numbers.", {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}),
        "context": ("What happened, and who said what, before.", {"type": "array", "items": turn}),
        "speaker": ("Who says the utterance.", {"type": "string"}),
        "utterance": ("The remark in question. The same in both items of a pair.", text),
        "after": ("What was said or done after the utterance.", {"type": "array", "items": turn}),
        "question": ("What is asked of the remark.", text),
        "options": (
            "Six readings, one of them best; two to six replies in an organic item.",
            {"type": "array", "items": text, "minItems": 2, "maxItems": OPTIONS, "uniqueItems": True},
        ),
        "answer": ("Place of the best option, 0 to 5.", {"type": "integer", "minimum": 0, "maximum": 5}),
        "mistakes": (
            "One per option: what a reader who chooses it got wrong; empty for the best.",
            {"type": "array", "items": {"enum": ["", *MISTAKES]}, "minItems": 2, "maxItems": OPTIONS},
        ),
        "cue": ("Quoted from the item: what the best option rests on.", text),
        "category": ("What the item tests.", {"enum": [*CATEGORIES, ORGANIC]}),
        "difficulty": ("Why it is hard; which answer tempts.", {"type": "string"}),
        "pair_id": ("Joins the two items of a minimal pair; empty for a single.", {"type": "string"}),
        "tags": ("Free words.", {"type": "array", "items": {"type": "string"}}),
        "checks": ("The quality checklist, each answered.", _checks_schema()),
        "author": ("Who wrote it.", {"type": "string"}),
        "licence": ("SPDX name.", {"type": "string"}),
        "canary": ("A string that tells whether the set leaked into training data.", {"type": "string"}),
        "language": ("ISO 639-1 code.", {"type": "string", "pattern": f"^{LANGUAGE.pattern}$"}),
    }
    required = ("id", "version", "context", "utterance", "question", "options", "answer", "category", "checks")
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "SarcBench item",
        "type": "object",
        "properties": {name: {"description": words, **kind} for name, (words, kind) in described.items()},
        "required": [*required, *WRITTEN],
        "additionalProperties": False,
    }


def _checks_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in CHECKS},
        "additionalProperties": False,
    }
