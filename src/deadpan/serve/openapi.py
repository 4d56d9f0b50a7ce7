"""The description of the service: OpenAPI 3.1, from which the docs page is made too."""

from __future__ import annotations

from typing import Any

from deadpan import __version__
from deadpan.detect.detector import AUTO
from deadpan.formats.labels import NO_LABEL
from deadpan.serve.settings import ServeSettings

Schema = dict[str, Any]
AUTO_MEANS = "A name from /v1/models, or auto: the student for English where it is served, else the default."
_TEXT: Schema = {"type": "string", "minLength": 1}
_TURN: Schema = {
    "oneOf": [
        _TEXT,
        {"type": "object", "required": ["text"], "additionalProperties": False,
         "properties": {"speaker": {"type": "string"}, "text": _TEXT}},
    ]
}  # fmt: skip


def openapi(settings: ServeSettings) -> Schema:
    """Return the document; limits are those of this service."""
    secured: list[Schema] = [{"key": []}, {"header": []}] if settings.keys else []
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deadpan", "version": __version__, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Judges texts and conversations: how likely is it that they are sarcastic? "
            "Scores are statistical guesses. Texts are neither stored nor logged.",
        },
        "paths": {
            "/v1/detect": {"post": _detect(settings, secured)},
            "/v1/reading": {"post": _reading(secured)},
            "/v1/models": {"get": _get("List the detectors and the language model.", "Models", secured, "models")},
            "/health": {"get": _get("Say that the service is up.", "Health", [], "health")},
            "/metrics": {"get": _metrics(secured)},
            "/v1/openapi.json": {"get": _get("Return this document.", "Document", [], "openapi")},
        },
        "components": {"schemas": _schemas(settings), "securitySchemes": {
            "key": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }},
    }  # fmt: skip


CONVERSATION: Schema = {
    "value": {
        "conversation": [
            {"speaker": "A", "text": "I never switched the oven on."},
            {"speaker": "B", "text": "So we're having it at room temperature, the traditional way."},
        ]
    }
}


def _detect(settings: ServeSettings, secured: list[Schema]) -> Schema:
    return {
        "operationId": "detect",
        "summary": "Judge one text, a batch, or a conversation.",
        "description": f"Send exactly one of text, texts, inputs and conversation: at most "
        f"{settings.most_texts:,} texts of {settings.longest_text:,} characters, {settings.most_bytes:,} bytes. "
        "Results are in the order of the request. The label is \"cannot tell\" where a score is too close to "
        "call (GET /v1/models gives the limits), and \"not supported\" for a language that the "
        "detector does not know.",
        "security": secured,
        "requestBody": {"required": True, "content": {"application/json": {
            "schema": _ref("DetectRequest"),
            "examples": {
                "one text": {"value": {"text": "Oh great, another delay.", "explain": True}},
                "a batch": {"value": {"texts": ["Oh great, another delay.", "The bus leaves at nine."]}},
                "a conversation": CONVERSATION,
            },
        }}},
        "responses": {"200": _content("The answers.", "DetectAnswer"), **_refusals(400, 401, 404, 408, 413, 422, 429, 503)},
    }  # fmt: skip


def _reading(secured: list[Schema]) -> Schema:
    return {
        "operationId": "reading",
        "summary": "Stream what a language model takes the speaker to mean.",
        "description": "Server-sent events: start {model}, piece {text} many times, then done or error.",
        "security": secured,
        "requestBody": {"required": True, "content": {"application/json": {
            "schema": _ref("ReadingRequest"), "examples": {"a conversation": CONVERSATION},
        }}},
        "responses": {
            "200": {"description": "Events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **_refusals(400, 401, 408, 413, 422, 429, 503),
        },
    }  # fmt: skip


def _metrics(secured: list[Schema]) -> Schema:
    ok = {
        "description": "Prometheus' text format.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
    return {"operationId": "metrics", "summary": "Return counters for Prometheus.", "security": secured,
            "responses": {"200": ok, **_refusals(401)}}  # fmt: skip


def _get(summary: str, schema: str, secured: list[Schema], name: str) -> Schema:
    return {"operationId": name, "summary": summary, "security": secured,
            "responses": {"200": _content("The answer.", schema), **(_refusals(401, 429) if secured else {})}}  # fmt: skip


def _schemas(settings: ServeSettings) -> Schema:
    text = {**_TEXT, "maxLength": settings.longest_text}
    turns = {"type": "array", "items": _TURN}
    item = {
        "text": text,
        "context": turns,
        "speaker": {"type": "string"},
        "id": {"type": ["string", "integer"]},
    }
    result = {
        "id": {"type": "string"},
        "label": {"type": ["string", "null"], "enum": ["sarcastic", "sincere", *NO_LABEL, None]},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "meaning": {
            "type": "string",
            "description": "With explain: what the score means, or why there is none.",
        },
        "cannot_tell": {
            "type": ["array", "null"],
            "items": {"type": "number"},
            "description": 'With explain: the scores between which the label would be "cannot tell".',
        },
        "words": {"type": ["array", "null"], "items": _ref("Push")},
        "context": {"type": ["array", "null"], "items": _ref("Push")},
    }
    return {
        "DetectRequest": _object({
            **item,
            "texts": {"type": "array", "items": text, "minItems": 1, "maxItems": settings.most_texts},
            "inputs": {"type": "array", "items": _object(item, "text"), "minItems": 1, "maxItems": settings.most_texts},
            "conversation": {**turns, "minItems": 1, "description": "The last turn is judged."},
            "each": {"type": "boolean", "description": "Judge every turn of the conversation."},
            "model": {"type": "string", "default": AUTO, "description": AUTO_MEANS},
            "explain": {"type": "boolean", "description": "Add the words that moved each score."},
        }),
        "DetectAnswer": _object({
            "model": {"type": "string"}, "results": {"type": "array", "items": _object(result, "id", "label", "score")},
            "limits": {"type": "array", "items": {"type": "string"}}, "request_id": {"type": "string"},
        }, "model", "results", "request_id"),
        "Push": _object({"text": {"type": "string"}, "push": {"type": "number"}}, "text", "push"),
        "ReadingRequest": _object({**item, "conversation": turns}),
        "Model": _object({
            "id": {"type": "string"}, "system": {"type": "string"}, "threshold": {"type": ["number", "null"]},
            "kind": {
                "type": ["string", "null"], "description": "The kind that sarcastic means, of a detector of one kind.",
            },
            "cannot_tell": {
                "type": ["object", "null"], "additionalProperties": {"type": "array", "items": {"type": "number"}},
                "description": "For each language, the scores between which the label is \"cannot tell\".",
            },
            "prevalence": {
                "type": ["number", "null"], "description": "The share of sarcastic texts for which scores hold.",
            },
            "reads_context": {"type": "boolean"}, "trained_on_texts": {"type": ["integer", "null"]},
            "limits": {"type": "array", "items": {"type": "string"}},
        }, "id", "system", "threshold", "cannot_tell", "prevalence", "reads_context", "trained_on_texts", "limits"),
        "Models": _object({
            "models": {"type": "array", "items": _ref("Model")},
            "reader": {"oneOf": [_object({"id": {"type": "string"}}, "id"), {"type": "null"}]},
            "request_id": {"type": "string"},
        }, "models", "reader", "request_id"),
        "Health": {"type": "object", "required": ["status"]},
        "Document": {"type": "object"},
        "Error": _object({
            "error": _object({"code": {"type": "string"}, "message": {"type": "string"}, "field": {"type": "string"}},
                             "code", "message"),
            "request_id": {"type": "string"},
        }, "error", "request_id"),
    }  # fmt: skip


def _object(properties: Schema, *required: str) -> Schema:
    made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(description: str, schema: str) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": _ref(schema)}}}


_WORDS = {
    400: "Not JSON.", 401: "No key, or an unknown one.", 404: "No such model.",
    408: "The body arrived too slowly.",
    413: "Too large.", 422: "A field is wrong; the answer names it.", 429: "Too many requests; see Retry-After.",
    503: "Busy, or no language model.",
}  # fmt: skip


def _refusals(*statuses: int) -> Schema:
    return {str(status): _content(_WORDS[status], "Error") for status in statuses}
