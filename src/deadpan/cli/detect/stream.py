"""Lines in, lines out: read as they come, judged in batches, written in order."""

from __future__ import annotations

import json
import select
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from os import fstat
from typing import IO, TYPE_CHECKING, Any

from deadpan.errors import DataError
from deadpan.fields import decode
from deadpan.records import Example, Turn

if TYPE_CHECKING:
    from deadpan.detect.detector import Detector
    from deadpan.records import Prediction

CHUNK = 2 << 20
LONGEST = 8 << 20
"""Bytes of a line; what is longer is no text anybody wrote."""
MOST = 16_384
"""Lines judged at once, however short."""

Parsed = Example | str
"""An example to judge, or what is wrong with its line."""


def judge(detector: Detector, source: IO[bytes], target: IO[bytes], form: str = "auto") -> dict[str, int]:
    """Judge every line; how many there were, and how many could not be."""
    number = errors = 0
    for batch in _batches(source):
        lines: list[Parsed] = []
        for line in batch:
            number += 1
            if number == 1 and line is not None:  # Windows editors begin a file with it, JSON lines too
                line = line.removeprefix(BOM_UTF8)
            if form == "auto" and line and line.strip():
                form = "json" if line.lstrip().startswith(b"{") else "plain"
            lines.append(_parse(line, number, form))
        answers = iter(detector.predict([line for line in lines if isinstance(line, Example)]))
        start = number - len(lines)
        rows = []
        for place, parsed in enumerate(lines, start + 1):
            if isinstance(parsed, str):
                errors += 1
                rows.append(json.dumps({"line": place, "error": parsed}, ensure_ascii=False))
            else:
                rows.append(_row(next(answers)))
        if rows:
            target.write(("\n".join(rows) + "\n").encode("utf-8", "replace"))
            target.flush()
    return {"lines": number, "errors": errors}


def _row(said: Prediction) -> str:
    """An answer as JSON, made by hand: this is where the time would go."""
    label = "null" if said.label is None else "true" if said.label else "false"
    score = "null" if said.score is None else f"{said.score:.6g}"
    raw = f', "raw": {json.dumps(said.raw, ensure_ascii=False)}' if said.raw else ""
    name = json.dumps(said.example_id, ensure_ascii=False)
    return f'{{"id": {name}, "label": {label}, "score": {score}{raw}}}'


def _parse(line: bytes | None, number: int, form: str) -> Parsed:
    if line is None:
        return f"longer than {LONGEST >> 20} MB: cut it"
    try:
        words = line.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8 text: convert it first"
    if "\0" in words:
        return "holds a NUL byte: is this a binary file?"
    words = words.strip()
    if not words:
        return "empty"
    if form != "json":
        return Example(str(number), Turn("", words))
    try:
        return _example(json.loads(words), number)
    except RecursionError:
        return "JSON nested too deeply"
    except json.JSONDecodeError as bad:
        return f"not JSON: {bad.msg}"
    except (DataError, TypeError, ValueError) as bad:
        return str(bad)


def _example(value: Any, number: int) -> Example:
    """An Example as deadpan writes them, or any object with a text."""
    if not isinstance(value, dict):
        raise DataError('expected an object with "text"')
    if isinstance(value.get("response"), dict):
        example = decode(value, Example)
        if not example.response.text.strip():
            raise DataError("its response is empty")
        return example
    text = next((value[name] for name in ("text", "response", "comment", "tweet") if name in value), None)
    if not isinstance(text, str) or not text.strip():
        raise DataError('no "text" in it' if text is None else '"text" is not text, or empty')
    before = value.get("context") or []
    turns = [before] if isinstance(before, str) else before
    if not isinstance(turns, list):
        raise DataError('"context" is not a list of turns')
    speaker = str(value.get("speaker") or "")
    name = value.get("id")
    return Example(str(number if name is None else name), Turn(speaker, text), tuple(map(_turn, turns)))


def _turn(value: Any) -> Turn:
    if isinstance(value, str):
        return Turn("", value)
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return Turn(str(value.get("speaker") or ""), value["text"])
    raise DataError('"context" holds something that is no turn: give texts, or {"speaker", "text"}')


def _batches(source: IO[bytes]) -> Iterator[list[bytes | None]]:
    """Lines as bytes, as many as are there; None for one that is too long."""
    rest, skipping = b"", False
    for chunk in _chunks(source):
        *lines, rest = (rest + chunk).split(b"\n")
        out: list[bytes | None] = list(lines)
        if skipping and out:
            out[0], skipping = None, False
        if len(rest) > LONGEST:
            rest, skipping = b"", True
        for start in range(0, len(out), MOST):
            yield out[start : start + MOST]
    if rest or skipping:
        yield [None if skipping else rest]


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    """A megabyte at a time of a file; of a pipe, what has come so far, so that nobody waits for an answer."""
    try:
        pipe = not stat.S_ISREG(fstat(source.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # a stream in memory has no number
        pipe = False
    read = getattr(source, "read1", source.read)
    while chunk := read(CHUNK):
        parts, size = [chunk], len(chunk)
        while pipe and size < CHUNK and select.select([source], [], [], 0)[0]:
            more = read(CHUNK)
            if not more:
                break
            parts.append(more)
            size += len(more)
        yield b"".join(parts)
