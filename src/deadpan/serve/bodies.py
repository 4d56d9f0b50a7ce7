"""Bodies of requests and answers: one text, a batch or a conversation. The types are the OpenAPI schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from deadpan.detect.detector import AUTO
from deadpan.records import Example, Turn
from deadpan.serve.gate import ApiError

MOST_BYTES = 4 << 20
MOST_TEXTS = 4_096
MOST_TURNS = 500
LONGEST_TEXT = 20_000
MOST_EXPLAINED = 20
"""Texts of one request that are explained: each costs a hundred predictions."""

Text = Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT)]
ShortText = Annotated[str, Meta(max_length=200)]
Body = TypeVar("Body")


class TurnBody(Struct, forbid_unknown_fields=True):
    """One turn of a conversation."""

    text: Text
    speaker: ShortText = ""


Turns = Text | Annotated[list[Text | TurnBody], Meta(max_length=MOST_TURNS)]


class ItemBody(Struct, forbid_unknown_fields=True):
    """A text with the turns before it."""

    text: Text
    context: Turns | None = None
    speaker: ShortText = ""
    id: ShortText | int | UnsetType = UNSET


class ReadingRequest(Struct, forbid_unknown_fields=True):
    """A text with the turns before it, or a conversation, whose last turn is read."""

    text: Text | UnsetType = UNSET
    context: Turns | None = None
    speaker: ShortText = ""
    id: ShortText | int | UnsetType = UNSET
    conversation: Turns | UnsetType = UNSET

    def examples(self) -> list[Example]:
        """Return what the request is about, each with the turns before it."""
        if self.conversation is not UNSET:
            return self._conversation(each=False)
        text = "" if self.text is UNSET else self.text
        return [_example(ItemBody(text, self.context, self.speaker, self.id), "0", "")]

    def _conversation(self, *, each: bool) -> list[Example]:
        turns = _turns(self.conversation, "conversation")
        if not turns:
            raise ApiError(422, "no_text", "the conversation has no turn", field="conversation")
        places = range(len(turns)) if each else [len(turns) - 1]
        return [Example(str(place), turns[place], turns[:place]) for place in places]


class DetectRequest(ReadingRequest, forbid_unknown_fields=True):
    """Exactly one of text, texts, inputs and conversation (its last turn, or each), and whether to explain
    each answer. A model is a name from /v1/models, or auto: `encoder` for English where it is served, else
    `base`. The prevalence is the share of texts that are sarcastic where these come from: scores are for it."""

    texts: Annotated[list[Text], Meta(min_length=1, max_length=MOST_TEXTS)] | UnsetType = UNSET
    inputs: Annotated[list[ItemBody], Meta(min_length=1, max_length=MOST_TEXTS)] | UnsetType = UNSET
    each: bool = False
    model: str = AUTO
    explain: bool = False
    prevalence: Annotated[float, Meta(gt=0, lt=1)] | None = None

    def examples(self) -> list[Example]:
        """Return the texts to judge, each with the turns before it."""
        given = [name for name in ("text", "texts", "inputs", "conversation") if getattr(self, name) is not UNSET]
        if len(given) != 1:
            wanted = "give one of text, texts, inputs and conversation"
            raise ApiError(422, "no_text", f"{wanted}: got {' and '.join(given) or 'none'}", field="text")
        if self.texts is not UNSET:
            turns = _turns(self.texts, "texts")
            examples = [Example(str(place), turn) for place, turn in enumerate(turns)]
        elif self.inputs is not UNSET:
            examples = [_example(row, str(n), f"inputs[{n}].") for n, row in enumerate(self.inputs)]
        elif self.conversation is not UNSET:
            examples = self._conversation(each=self.each)
        else:
            examples = super().examples()
        if self.explain and len(examples) > MOST_EXPLAINED:
            raise ApiError(413, "too_many_texts", f"explain at most {MOST_EXPLAINED} texts at once", field="explain")
        return examples


def _example(row: ItemBody, id: str, place: str) -> Example:
    name = id if row.id is UNSET else str(row.id)
    context = _turns(row.context or [], f"{place}context")
    return Example(name, Turn(row.speaker, _words(row.text, f"{place}text")), context)


def _turns(rows: Any, field: str) -> tuple[Turn, ...]:
    def read() -> Iterator[Turn]:
        for place, row in enumerate([rows] if isinstance(rows, str) else rows):
            if isinstance(row, TurnBody):
                yield Turn(row.speaker, _words(row.text, f"{field}[{place}].text"))
            else:
                yield Turn("", _words(row, f"{field}[{place}]"))

    return tuple(read())


def _words(text: str, field: str) -> str:
    if not text.strip():
        raise ApiError(422, "no_text", "the text is empty", field=field)
    if "\0" in text:
        raise ApiError(422, "no_text", "the text holds a NUL character", field=field)
    return text


# ---------------------------------------------------------------- answers


class Push(Struct):
    """A phrase, word or turn, how far it moves the score, in log odds, and the score without it."""

    text: str
    push: float
    without: float


class DetectResult(Struct):
    """The answer for one text. Explained, it also says what it means and why, between which scores the label
    would be "cannot tell", and what the phrases that stand out, each word and each turn contribute."""

    id: str
    label: Literal["sarcastic", "sincere", "cannot tell", "not supported"] | None
    score: Annotated[float, Meta(ge=0, le=1)] | None
    meaning: str | UnsetType = UNSET
    why: list[str] | UnsetType = UNSET
    cannot_tell: list[float] | UnsetType | None = UNSET
    phrases: list[Push] | UnsetType | None = UNSET
    words: list[Push] | UnsetType | None = UNSET
    context: list[Push] | UnsetType | None = UNSET


class DetectAnswer(Struct):
    """The answers in the order of the request; with explain, what the detector cannot know."""

    model: str
    results: list[DetectResult]
    request_id: str
    limits: list[str] | UnsetType = UNSET


class ModelAbout(Struct):
    """A detector: the kind that sarcastic means (of a detector of one kind), for each language the scores
    between which it cannot tell, and the share of sarcastic texts for which scores hold."""

    id: str
    system: str
    kind: str | None
    threshold: float | None
    cannot_tell: dict[str, list[float]] | None
    prevalence: float | None
    reads_context: bool
    trained_on_texts: int | None
    limits: list[str]


class ReaderAbout(Struct):
    """The language model that says what is meant."""

    id: str


class ModelsAnswer(Struct):
    """The detectors, and the language model if there is one."""

    models: list[ModelAbout]
    reader: ReaderAbout | None
    request_id: str


class HealthAnswer(Struct):
    """The service is up."""

    status: str
    version: str
    models: list[str]


class ErrorDetail(Struct):
    """The error: a code for programs, a message for people, and the field of the request."""

    code: str
    message: str
    field: str | UnsetType = UNSET


class ErrorAnswer(Struct):
    """An answer other than 2xx."""

    error: ErrorDetail
    request_id: str


# ---------------------------------------------------------------- reading

_PATH = re.compile(r" - at `\$\.?(.*)`$")
_TOO_MUCH = {
    LONGEST_TEXT: ("text_too_long", f"a text may have at most {LONGEST_TEXT:,} characters"),
    MOST_TEXTS: ("too_many_texts", f"send at most {MOST_TEXTS:,} texts at once"),
    MOST_TURNS: ("too_many_turns", f"send at most {MOST_TURNS} turns"),
}


def read_body(body: bytes, kind: type[Body]) -> Body:
    """Return the body as its type; the error names the field and what belongs there."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as bad:
        raise _wrong_field(str(bad)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as bad:
        raise ApiError(400, "not_json", f"the body is not JSON ({bad})") from None


def _wrong_field(message: str) -> ApiError:
    found = _PATH.search(message)
    path = found[1] if found else ""
    message = _PATH.sub("", message)
    name = match[1] if (match := re.search(r"field `(.*)`$", message, re.DOTALL)) else ""
    field = ".".join(filter(None, (path, name[:60])))
    if message.startswith("Object contains unknown field"):
        known = _fields(path)
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
        return ApiError(422, "unknown_field", f"unknown field {name[:60]!r}: {hint}", field=field)
    if (limit := re.search(r"length <= (\d+)$", message)) and int(limit[1]) in _TOO_MUCH:
        return ApiError(413, *_TOO_MUCH[int(limit[1])], field=field)
    if message == "Expected `str` of length >= 1":
        return ApiError(422, "no_text", "the text is empty", field=field)
    if not field:
        return ApiError(422, "not_an_object", 'the body is not an object: send {"text": "..."}')
    wanted = f"{name} is missing" if name else message.replace("`", "").replace("Expected", "expected")
    return ApiError(422, "wrong_type", wanted, field=field)


def _fields(path: str) -> tuple[str, ...]:
    if not path:
        return DetectRequest.__struct_fields__
    return ItemBody.__struct_fields__ if re.fullmatch(r"inputs\[\d+\]", path) else TurnBody.__struct_fields__
