"""Bodies of requests: one text, a batch or a conversation, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import orjson

from deadpan.detect.detector import AUTO
from deadpan.records import Example, Turn
from deadpan.serve.refusals import Refusal
from deadpan.serve.settings import ServeSettings

FIELDS = ("text", "context", "speaker", "id", "texts", "inputs", "conversation", "each", "model", "explain")
ITEM = ("text", "context", "speaker", "id")
MOST_EXPLAINED = 20
"""Texts of one request that are explained: each costs as many predictions as it has words."""
MOST_TURNS = 500


@dataclass(frozen=True, slots=True)
class DetectRequest:
    """Examples to judge, by which model, and whether the words that moved each score are wanted."""

    examples: list[Example]
    model: str
    explain: bool


def read_json(body: bytes) -> Mapping[str, Any]:
    """Return the object in a body."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as bad:
        raise Refusal(400, "not_json", f"the body is not JSON ({bad.msg}, character {bad.pos})") from None
    if not isinstance(value, dict):
        raise Refusal(422, "not_an_object", 'the body is not an object: send {"text": "..."}')
    return value


def read_detect(body: bytes, settings: ServeSettings) -> DetectRequest:
    """Return what a request to /v1/detect asks for."""
    value = read_json(body)
    _known(value, FIELDS, "")
    given = [name for name in ("text", "texts", "inputs", "conversation") if name in value]
    if len(given) != 1:
        wanted = "give one of text, texts, inputs and conversation"
        raise Refusal(422, "no_text", f"{wanted}: got {' and '.join(given) or 'none'}", field="text")
    examples = _examples(given[0], value, settings)
    if len(examples) > settings.most_texts:
        raise Refusal(
            413, "too_many_texts", f"{len(examples):,} texts: send at most {settings.most_texts:,} at once",
            field=given[0],
        )  # fmt: skip
    explain = _flag(value, "explain")
    if explain and len(examples) > MOST_EXPLAINED:
        raise Refusal(
            413, "too_many_texts", f"explain at most {MOST_EXPLAINED} texts at once", field="explain"
        )
    model = value.get("model", AUTO)
    if not isinstance(model, str):
        raise Refusal(422, "wrong_type", "model is a name from /v1/models, or auto", field="model")
    return DetectRequest(examples, model, explain)


def read_one(body: bytes, settings: ServeSettings) -> Example:
    """Return the one example a request to /v1/reading is about."""
    value = read_json(body)
    _known(value, ("text", "context", "speaker", "id", "conversation"), "")
    given = "conversation" if "conversation" in value else "text"
    return _examples(given, value, settings)[-1]


def _examples(kind: str, value: Mapping[str, Any], settings: ServeSettings) -> list[Example]:
    if kind == "text":
        return [_item({name: value[name] for name in ITEM if name in value}, "0", "", settings)]
    if kind == "conversation":
        return _conversation(value, settings)
    rows = value[kind]
    if not isinstance(rows, list) or not rows:
        raise Refusal(422, "wrong_type", f"{kind} is a list with at least one text", field=kind)
    if len(rows) > settings.most_texts:
        raise Refusal(
            413,
            "too_many_texts",
            f"{len(rows):,} texts: send at most {settings.most_texts:,} at once",
            field=kind,
        )
    if kind == "texts":
        return [
            Example(str(place), Turn("", _text(row, f"texts[{place}]", settings)))
            for place, row in enumerate(rows)
        ]
    return [_item(row, str(place), f"inputs[{place}].", settings) for place, row in enumerate(rows)]


def _item(row: Any, id: str, place: str, settings: ServeSettings) -> Example:
    if not isinstance(row, dict):
        raise Refusal(422, "wrong_type", 'give {"text": "..."}', field=place.rstrip("."))
    _known(row, ITEM, place)
    name = row.get("id", id)
    if not isinstance(name, str | int) or len(str(name)) > 200:
        raise Refusal(422, "wrong_type", "id is a short text or a number", field=f"{place}id")
    said = Turn(_speaker(row, place), _text(row.get("text"), f"{place}text", settings))
    return Example(str(name), said, _turns(row.get("context") or [], f"{place}context", settings))


def _conversation(value: Mapping[str, Any], settings: ServeSettings) -> list[Example]:
    turns = _turns(value["conversation"], "conversation", settings)
    if not turns:
        raise Refusal(422, "no_text", "the conversation has no turn", field="conversation")
    places = range(len(turns)) if _flag(value, "each") else [len(turns) - 1]
    return [Example(str(place), turns[place], turns[:place]) for place in places]


def _turns(rows: Any, field: str, settings: ServeSettings) -> tuple[Turn, ...]:
    rows = [rows] if isinstance(rows, str) else rows
    if not isinstance(rows, list):
        raise Refusal(422, "wrong_type", 'a list of texts, or of {"speaker", "text"}', field=field)
    if len(rows) > MOST_TURNS:
        raise Refusal(413, "too_many_turns", f"send at most {MOST_TURNS} turns", field=field)
    turns = []
    for place, row in enumerate(rows):
        here = f"{field}[{place}]"
        if isinstance(row, dict):
            _known(row, ("speaker", "text"), f"{here}.")
            turns.append(Turn(_speaker(row, f"{here}."), _text(row.get("text"), f"{here}.text", settings)))
        else:
            turns.append(Turn("", _text(row, here, settings)))
    return tuple(turns)


def _speaker(row: Mapping[str, Any], place: str) -> str:
    speaker = row.get("speaker", "")
    if not isinstance(speaker, str) or len(speaker) > 200:
        raise Refusal(422, "wrong_type", "speaker is a short text", field=f"{place}speaker")
    return speaker


def _text(value: Any, field: str, settings: ServeSettings) -> str:
    if not isinstance(value, str):
        raise Refusal(422, "wrong_type", "expected a text", field=field)
    if not value.strip():
        raise Refusal(422, "no_text", "the text is empty", field=field)
    if len(value) > settings.longest_text:
        raise Refusal(
            413, "text_too_long", f"{len(value):,} characters: at most {settings.longest_text:,}", field=field
        )
    if "\0" in value:
        raise Refusal(422, "no_text", "the text holds a NUL character", field=field)
    return value


def _flag(value: Mapping[str, Any], name: str) -> bool:
    flag = value.get(name, False)
    if not isinstance(flag, bool):
        raise Refusal(422, "wrong_type", f"{name} is true or false", field=name)
    return flag


def _known(value: Mapping[str, Any], names: Sequence[str], place: str) -> None:
    for name in value:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f": did you mean {near[0]}?" if near else f": choose from {', '.join(names)}"
            raise Refusal(
                422, "unknown_field", f"unknown field {name[:60]!r}{hint}", field=f"{place}{name[:60]}"
            )
