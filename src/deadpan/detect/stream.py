"""Predict a stream: texts or JSON lines in, predictions as JSON lines out, in order and in bounded memory."""

from __future__ import annotations

import json
import select
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from os import fstat
from pathlib import Path
from typing import IO, Any

from deadpan.detect.detector import Detector
from deadpan.errors import ConfigError, DataError
from deadpan.formats.predictions import prediction_line, write_predictions
from deadpan.formats.tables import SUFFIXES
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import atomic
from deadpan.text import plural
from deadpan.validation import decode

CHUNK = 2 << 20
LONGEST = 8 << 20
"""Bytes of a line: longer ones are reported as errors."""
MOST = 16_384
"""Lines predicted in one batch, however short."""
NOT_TEXT = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
"""First bytes of archives (also .ods and .docx), old Office files, PDF, gzip, bzip2 and xz."""

Parsed = Example | str
"""An example, or what is wrong with its line."""


def predict_examples(detector: Detector, examples: Iterable[Example]) -> Iterator[Prediction]:
    """Yield one prediction per example, in order, in batches: memory stays bounded."""
    batch: list[Example] = []
    for example in examples:
        batch.append(example)
        if len(batch) == MOST:
            yield from detector.predict(batch)
            batch = []
    yield from detector.predict(batch)


def is_lines(source: str) -> bool:
    """Return True for standard input ("-") and for files that are not tables."""
    path = Path(source)
    return source == "-" or path.suffix == ".txt" or (path.is_file() and path.suffix.lower() not in SUFFIXES)


def predict_source(
    detector: Detector, source: str, examples: Iterable[Example] | None, out: Path | None, form: str = "auto"
) -> dict[str, int]:
    """Predict examples, or without them the lines of a file or of standard input ("-").

    Predictions go to `out`, in the format of its extension, or as JSON lines to standard output. Return the
    numbers of lines and of errors; if no line could be read, that is an error.
    """
    if examples is not None:
        predictions = predict_examples(detector, examples)
        if out is not None:
            return {"lines": write_predictions(out, predictions), "errors": 0}
        return {"lines": _write_lines(predictions, sys.stdout.buffer), "errors": 0}
    if source != "-" and not Path(source).is_file():
        raise DataError(f"{source}: no such file; to label a text itself: deadpan detect {source!r}")
    if source != "-":
        _check_text(Path(source))
    if out is not None and out.suffix != ".jsonl":
        raise ConfigError(f"{out}: predictions of lines are written as .jsonl: use this ending")
    with sys.stdin.buffer if source == "-" else open(source, "rb") as lines:
        if out is None:
            counts = predict_lines(detector, lines, sys.stdout.buffer, form)
        else:
            with atomic(out) as temporary, temporary.open("wb") as target:
                counts = predict_lines(detector, lines, target, form)
    if counts["errors"] and counts["errors"] == counts["lines"]:
        raise DataError(f"none of {plural(counts['lines'], 'line')} could be read: the output says why for each")
    return counts


def _check_text(path: Path) -> None:
    """Refuse a file that is no text, such as an old Excel workbook: its lines would be judged."""
    with path.open("rb") as file:
        start = file.read(max(map(len, NOT_TEXT)))
    if start.startswith(NOT_TEXT):
        raise DataError(f"{path}: not a text file: save it as .csv, .xlsx or .txt first")


def _write_lines(predictions: Iterable[Prediction], target: IO[bytes]) -> int:
    count = 0
    for prediction in predictions:
        count += 1
        target.write((prediction_line(prediction) + "\n").encode("utf-8", "replace"))
    target.flush()
    return count


def predict_lines(detector: Detector, source: IO[bytes], target: IO[bytes], form: str = "auto") -> dict[str, int]:
    """Write one line per line read: a prediction, or {"line", "error"}. Return the counts of both.

    A line is plain text or JSON ({"text", "context", "id"}, or an Example); `form` "auto" looks at the first.
    """
    number = errors = 0
    for batch in _batches(source):
        lines: list[Parsed] = []
        for line in batch:
            number += 1
            if number == 1 and line is not None:  # Windows editors begin files with it
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
                rows.append(prediction_line(next(answers)))
        if rows:
            target.write(("\n".join(rows) + "\n").encode("utf-8", "replace"))
            target.flush()
    return {"lines": number, "errors": errors}


def _parse(line: bytes | None, number: int, form: str) -> Parsed:
    if line is None:
        return f"longer than {LONGEST >> 20} MB: shorten it"
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
    """Return the Example of a JSON object: one that deadpan wrote, or any object with a text."""
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
    raise DataError('"context" holds something that is not a turn: give texts, or {"speaker", "text"}')


def _batches(source: IO[bytes]) -> Iterator[list[bytes | None]]:
    """Yield batches of lines as bytes; None for a line that is too long."""
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
    """Yield chunks of a file; of a pipe, what has arrived so far, so that answers are not delayed."""
    try:
        pipe = not stat.S_ISREG(fstat(source.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # a stream in memory has no file descriptor
        pipe = False
    read = getattr(source, "read1", source.read)  # read would wait until a whole chunk has come
    while chunk := read(CHUNK):
        parts, size = [chunk], len(chunk)
        while pipe and size < CHUNK and select.select([source], [], [], 0)[0]:
            more = read(CHUNK)
            if not more:
                break
            parts.append(more)
            size += len(more)
        yield b"".join(parts)
