"""SARC's index and comments.json: streamed, written back, and refused where they are something else."""

from __future__ import annotations

import json

import pytest

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine, format_index_line, read_comments, read_index

COMMENTS = {
    "p1": {"text": "City opens a bridge", "author": "ann", "subreddit": "news"},
    "c2": {"text": "Right on time, as ever", "author": "cat", "score": 7, "created_utc": 5},
    "c3": {"text": "I cross it daily.", "author": "dan"},
    "p2": {"text": "", "author": ""},
    "c4": {"text": 'no {braces} \\ or "quotes" can stop this, 한국어 😀', "author": "eve"},
}


def test_bad_rows_are_counted_with_their_line(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text("p|a b|1 0\np|a b|1\nno columns\np|a b|1 x\n\np|c d|0 1")
    tally = Tally()
    assert len(list(read_index(path, tally))) == 2
    assert tally.drops["bad_row"] == 3
    assert tally.places["bad_row"][0].startswith("index.csv:2")


def test_a_line_is_written_as_it_is_read(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text(format_index_line(("p1", "c1"), ("c2", "c3"), (True, 0)))
    assert path.read_text() == "p1 c1|c2 c3|1 0\n"
    (line,) = read_index(path)
    assert line == IndexLine(("p1", "c1"), ("c2", "c3"), (True, False))
    assert (line.last, line.ids) == ("c1", ("p1", "c1", "c2", "c3"))


def test_without_a_tally_a_bad_line_is_an_error(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text("p1|c1|1\nnonsense\n")
    with pytest.raises(DataError, match=r"index\.csv:2: not a SARC index"):
        list(read_index(path))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_comments_stream_in_pieces_of_any_size(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("deadpan.formats.sarc.CHUNK", chunk)
    path = tmp_path / "comments.json"
    path.write_text(json.dumps(COMMENTS, indent=2, ensure_ascii=False), encoding="utf-8")
    assert dict(read_comments(path, COMMENTS.keys())) == COMMENTS
    assert [id for id, _ in read_comments(path, {"c3", "p1"})] == ["p1", "c3"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "cut off"),
        ('{"a": {"text": "x"}', "cut off"),
        ('{"a": {"text": "x', "cut off"),
        ("[1, 2]", "not a comments.json"),
        pytest.param('{"a": {"score": ' + "9" * 5000 + "}}", "Exceeds the limit", id="digits"),
        pytest.param('{"a": {"text": ' + "[" * 5000, "near byte .* maximum recursion", id="brackets"),
        ('{"a": "x"}', "expected an object for comment 'a'"),
        ('{"a": {"text": "x"} "b": {}}', "expected a comma"),
        ('{"a" {"text": "x"}}', "expected an id and a colon"),
    ],
)
def test_broken_comments_say_so(tmp_path, text, word):
    path = tmp_path / "comments.json"
    path.write_text(text)
    with pytest.raises(DataError, match=word):
        list(read_comments(path, {"a"}))


def test_an_empty_table_is_empty(tmp_path):
    (tmp_path / "comments.json").write_text(" {} \n")
    assert list(read_comments(tmp_path / "comments.json", {"a"})) == []
