"""Streams of lines: one prediction per line, in order, errors in place, memory bounded."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.stream import is_lines, predict_examples, predict_lines, predict_source
from deadpan.errors import DataError
from deadpan.validation import encode
from detect_corpus import word_corpus


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    Detector("bow").fit(word_corpus()).save(folder)
    return folder


def written_examples() -> bytes:
    return "".join(json.dumps(encode(example)) + "\n" for example in word_corpus()).encode()


def lines(model: Path, raw: bytes, form: str = "auto") -> list[dict[str, Any]]:
    out = io.BytesIO()
    predict_lines(Detector.load(model), io.BytesIO(raw), out, form)
    return [json.loads(line) for line in out.getvalue().decode().splitlines()]


def test_every_line_gets_a_line_in_order(model):
    raw = (
        b'{"id": "a", "text": "oh sure"}\n{"text": 3}\nnot json\n\n{"text": "today", "context": ["x", {"text": "y"}]}\n'
    )
    rows = lines(model, raw)
    assert [row.get("example_id") for row in rows] == ["a", None, None, None, "5"]
    assert [row.get("line") for row in rows] == [None, 2, 3, 4, None]
    assert rows[0]["label"] is True
    assert "error" in rows[1] and "error" in rows[2]


def test_plain_lines_binary_and_the_last_line_without_an_end(model):
    rows = lines(model, b"oh sure\n\xff\xfe\x00\nno\0w\nthe red door today")
    assert [("error" in row) for row in rows] == [False, True, True, False]
    assert rows[3]["example_id"] == "4"


def test_a_line_without_end_is_an_error_and_the_rest_goes_on(model, monkeypatch):
    monkeypatch.setattr("deadpan.detect.stream.LONGEST", 1000)
    monkeypatch.setattr("deadpan.detect.stream.CHUNK", 512)
    rows = lines(model, b"oh sure\n" + b"x" * 5000 + b"\ntoday\n")
    assert [("error" in row) for row in rows] == [False, True, False]


def test_examples_deadpan_wrote_keep_their_ids(model):
    rows = lines(model, written_examples())
    assert [row["example_id"] for row in rows] == [example.id for example in word_corpus()]


def test_a_byte_order_mark_hides_no_json(model):
    plain = lines(model, b"oh sure\n")
    assert lines(model, b"\xef\xbb\xbfoh sure\n") == plain
    assert lines(model, b'\xef\xbb\xbf{"text": "oh sure", "id": null}\n') == plain


def test_an_example_with_an_empty_response_is_an_error(model):
    (row,) = lines(model, b'{"id": "e", "response": {"speaker": "", "text": " "}}\n')
    assert "empty" in row["error"]


def test_examples_are_predicted_in_batches(model, monkeypatch):
    monkeypatch.setattr("deadpan.detect.stream.MOST", 7)
    detector = Detector.load(model)
    assert list(predict_examples(detector, iter(word_corpus()))) == detector.predict(word_corpus())


@pytest.mark.parametrize(
    ("name", "lines_"), [("-", True), ("a.txt", True), ("a.csv", False), ("b.jsonl", False), ("starter-en", False)]
)
def test_tables_are_not_lines(name, lines_):
    assert is_lines(name) is lines_


@pytest.mark.parametrize(
    ("name", "start"), [("a.xls", b"\xd0\xcf\x11\xe0"), ("a.ods", b"PK\x03\x04"), ("a", b"%PDF-1")]
)
def test_files_that_are_no_text_are_refused_whole(model, tmp_path, name, start):
    (tmp_path / name).write_bytes(start + b" more\nlines\n")
    with pytest.raises(DataError, match="not a text file: save it as"):
        predict_source(Detector.load(model), str(tmp_path / name), None, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
