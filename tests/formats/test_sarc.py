"""SARC's index and comments.json: streamed, written back, and refused where they are something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import (
    IndexLine,
    comments_beside,
    format_index_line,
    read_comment_blocks,
    read_comments,
    read_index,
)

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


@pytest.mark.parametrize("layout", [{"indent": 2}, {"separators": (",", ":")}], ids=["wide", "dense"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_comments_stream_in_pieces_of_any_size(tmp_path, monkeypatch, chunk, layout):
    monkeypatch.setattr("deadpan.formats.sarc.CHUNK", chunk)
    path = tmp_path / "comments.json"
    path.write_text(json.dumps(COMMENTS, **layout, ensure_ascii=False), encoding="utf-8")
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


def test_an_index_does_not_begin_with_an_empty_line(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text("\np|a b|1 0\n")
    with pytest.raises(DataError, match=r"index\.csv:1: not a SARC index"):
        list(read_index(path, Tally()))


def test_comments_come_many_at_a_time(tmp_path):
    path = tmp_path / "comments.json"
    path.write_text('{"a": {"text": "x"}, "b": {}, "c": {"score": 1}}')
    found = [block for block in read_comment_blocks(path) if block]
    assert found == [{"a": {"text": "x"}, "b": {}}, {"c": {"score": 1}}]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_errors_say_where(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("deadpan.formats.sarc.CHUNK", chunk)
    path = tmp_path / "comments.json"
    path.write_text('{"a": {"text": "x"} "b": {}}')  # the second id begins after 20 characters
    with pytest.raises(DataError, match="near byte 20: expected a comma"):
        list(read_comments(path))
    path.write_text('{"a": {"text": "x"}')
    with pytest.raises(DataError, match="cut off after 19 bytes"):
        list(read_comments(path))


@pytest.mark.parametrize(("longest", "fits"), [(13, False), (14, True)])
def test_only_an_entry_that_does_not_end_is_too_long(tmp_path, monkeypatch, longest, fits):
    """Read by the character, 14 of the 15 of an entry are looked at before the last one comes."""
    monkeypatch.setattr("deadpan.formats.sarc.CHUNK", 1)
    monkeypatch.setattr("deadpan.formats.sarc.LONGEST_ENTRY", longest)
    path = tmp_path / "comments.json"
    path.write_text('{"a": {"text": "one"}, "b": {"text": "two"}}')
    if fits:
        assert dict(read_comments(path)) == {"a": {"text": "one"}, "b": {"text": "two"}}
    else:
        with pytest.raises(DataError, match="near byte 6"):
            list(read_comments(path))


def test_how_far_an_entry_is_into_the_buffer_does_not_matter(tmp_path, monkeypatch):
    """In 40 characters, the second entry begins at the 30th and its last ten are missing."""
    monkeypatch.setattr("deadpan.formats.sarc.CHUNK", 40)
    monkeypatch.setattr("deadpan.formats.sarc.LONGEST_ENTRY", 40)
    path = tmp_path / "comments.json"
    path.write_text('{"a": {"text": "one two thr"}, "b": {"text": "two"}}')
    assert [id for id, _ in read_comments(path)] == ["a", "b"]


@pytest.mark.parametrize("ending", ["", ".bz2", ".gz", ".xz"])
def test_comments_lie_beside_their_index(tmp_path: Path, ending):
    beside = tmp_path / f"comments.json{ending}"
    beside.touch()
    assert comments_beside("sarc", tmp_path / "train-balanced.csv") == beside
