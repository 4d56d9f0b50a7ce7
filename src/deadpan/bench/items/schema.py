"""The JSON Schema of an item, for editors and other programs."""

from __future__ import annotations

from typing import Any

from deadpan.bench.items.item import CATEGORIES, CHECKS, ID, LANGUAGE, OPTIONS

NAME = "https://json-schema.org/draft/2020-12/schema"


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
        "options": ("Six readings, one of them best.", _list(text, OPTIONS)),
        "answer": ("Place of the best option, 0 to 5.", {"type": "integer", "minimum": 0, "maximum": 5}),
        "category": ("What the item tests.", {"enum": list(CATEGORIES)}),
        "difficulty": ("Why it is hard; which answer tempts.", {"type": "string"}),
        "pair_id": ("Joins the two items of a minimal pair; empty for a single.", {"type": "string"}),
        "tags": ("Free words.", {"type": "array", "items": {"type": "string"}}),
        "checks": ("The quality checklist, each answered.", _checks()),
        "author": ("Who wrote it.", {"type": "string"}),
        "licence": ("SPDX name.", {"type": "string"}),
        "canary": ("A string that tells whether the set leaked into training data.", {"type": "string"}),
        "language": ("ISO 639-1 code.", {"type": "string", "pattern": f"^{LANGUAGE.pattern}$"}),
    }
    required = ["id", "version", "context", "utterance", "question", "options", "answer", "category"]
    return {
        "$schema": NAME,
        "title": "SarcBench item",
        "type": "object",
        "properties": {name: {"description": words, **kind} for name, (words, kind) in described.items()},
        "required": required,
        "additionalProperties": False,
    }


def _list(kind: dict[str, Any], size: int) -> dict[str, Any]:
    return {"type": "array", "items": kind, "minItems": size, "maxItems": size, "uniqueItems": True}


def _checks() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in CHECKS},
        "additionalProperties": False,
    }
