from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.rows import column_names, csv_rows, json_document, json_lines, tab_rows

COLUMNS = {"text": ("tweet", "text"), "label": ("label",)}
CURE = "is it the right file?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def test_a_row_with_newlines_has_the_line_it_starts_on(path: Path) -> None:
    path.write_text('Tweet,label\n"one\ntwo",1\nthree,0\n\n"fo""ur",1\n')
    rows = list(csv_rows(path, COLUMNS, Tally(), CURE))
    assert [(r.text("text"), r.number, r.place) for r in rows] == [
        ("one\ntwo", 1, "table.csv:2"),
        ("three", 2, "table.csv:4"),
        ('fo"ur', 3, "table.csv:6"),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")), max_size=8))
def test_csv_comes_back_as_it_was_written(path: Path, texts: list[str]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["text", "label"])
    starts = []
    for text in texts:
        starts.append(out.getvalue().count("\n") + 1)
        writer.writerow([text, "1"])
    path.write_bytes(out.getvalue().encode())
    rows = list(csv_rows(path, COLUMNS, Tally(), CURE))
    assert [row.fields["text"] for row in rows] == texts
    assert [row.place for row in rows] == [f"table.csv:{line}" for line in starts]


def test_a_byte_order_mark_and_windows_line_ends_are_nothing(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbftext,label\r\nfine,1\r\n")
    assert [row.fields for row in csv_rows(path, COLUMNS, Tally(), CURE)] == [{"text": "fine", "label": "1"}]
    assert column_names(path, CURE) == ["text", "label"]


def test_a_header_that_is_not_csv_is_an_error_with_a_cure(path: Path) -> None:
    path.write_bytes(b"\rtext\nlabel")
    with pytest.raises(DataError, match=f"table.csv:1: the header is not CSV.*{CURE}"):
        column_names(path, CURE)


def test_bad_rows_are_counted_with_their_line(path: Path) -> None:
    path.write_text('text,label\nfine,1\ntoo,many,fields\nshort\n"closed"early,1\nstill fine,0\n')
    tally = Tally()
    rows = list(csv_rows(path, COLUMNS, tally, CURE))
    assert [(row.text("text"), row.number) for row in rows] == [("fine", 1), ("still fine", 5)]
    assert tally.drops == {"bad_row": 3}
    assert tally.places["bad_row"][0].startswith("table.csv:3: 3 fields")


def test_a_very_long_field_is_read(path: Path) -> None:
    path.write_text(f"text,label\n{'ha' * 200_000},1\n")
    assert len(next(csv_rows(path, COLUMNS, Tally(), CURE)).text("text")) == 400_000


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", ":1: an empty file"),
        (b"\n\n", ":1: an empty file"),
        (b"a,b\n1,2\n", ":1: no column 'tweet' in the header (a, b)"),
        (b"text,label\nfine,1\ncaf\xe9,0\n", ":3: not UTF-8"),
        (b"\xff\xfet\x00e\x00", ":1: no column 'tweet' in the header (te)"),
        (b"\xff\xfet\x00e", ": not complete UTF-16"),
        ("text,label\n월요일,1\n".encode("cp949"), ":2: not UTF-8 text (invalid start byte; probably CP949"),
        (b"\x00\x01\x02\x00\n", ":1: no column"),
        (b'text,label\nfine,1\n"cut sho', ":3: not CSV from here on"),
        (b"text,label\nonly\nshort\n", ":2: 1 field where the header has 2, and no other row"),
        (b"text,label\rold,1\rmac,0\r", ":1: lines end in a carriage return alone"),
    ],
)
def test_a_file_that_is_no_such_csv_is_refused(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        list(csv_rows(path, COLUMNS, Tally(), CURE))
    assert str(error.value).startswith(f"{path}{says}")
    assert str(error.value).endswith(CURE) and "\n" not in str(error.value)


def test_quotes_are_only_quotes_between_tabs(path: Path) -> None:
    path.write_text('label\ttweet\n1\t"so\n0\tsaid "he"\twith a tab\n1\n')
    tally = Tally()
    rows = list(tab_rows(path, COLUMNS, tally, CURE))
    assert [row.text("text") for row in rows] == ['"so', 'said "he"\twith a tab']
    assert tally.places == {"bad_row": ["table.csv:4: 1 field where there should be 2"]}


def test_json_lines_count_what_is_not_an_object_with_the_keys(path: Path) -> None:
    path.write_text('{"text": "a", "label": 1}\n\n[1]\n{"text": "b"}\n{"text": "c", "label"\n')
    tally = Tally()
    rows = list(json_lines(path, COLUMNS, tally, CURE))
    assert [(row.text("text"), row.place) for row in rows] == [("a", "table.csv:1")]
    assert [p.split(":")[1] for p in tally.places["bad_row"]] == ["3", "4", "5"]


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", ":1: an empty"), (b"text,label\na,1\n", ":1: not a JSON line"), (b'{"a": 1}\n', ":1: no key 'tweet'")],
)
def test_json_lines_with_nothing_to_read_are_refused(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        list(json_lines(path, COLUMNS, Tally(), CURE))
    assert str(error.value).startswith(f"{path}{says}")


def test_json_cut_short_names_its_last_line(path: Path) -> None:
    path.write_text('{"a": 1,\n"b": {"c"')
    with pytest.raises(DataError, match=r"table.csv:2: not JSON, or cut short"):
        json_document(path, CURE)


@pytest.mark.parametrize("depth", [200_000])
def test_json_too_deep_to_read_is_refused(path: Path, depth: int) -> None:
    path.write_text("[" * depth)
    with pytest.raises(DataError, match="not JSON"):
        json_document(path, CURE)


def test_half_a_character_can_be_written_out_again(path: Path) -> None:
    path.write_text('{"text": "\\ud83d oh", "label": ["\\ud83d"]}')
    row = next(json_lines(path, COLUMNS, Tally(), CURE))
    assert json.dumps(dict(row.fields), ensure_ascii=False).encode()


def test_a_huge_cell_is_refused(tmp_path, monkeypatch):
    from deadpan.formats import rows

    monkeypatch.setattr(rows, "LONGEST_FIELD", 1 << 20)
    monkeypatch.setattr(rows, "LONGEST_LINE", 4 << 20)
    path = tmp_path / "huge.csv"
    path.write_text("text,label\nfine,1\n" + "a" * (2 << 20) + ",0\n")
    with pytest.raises(DataError, match=r"huge\.csv:3: a cell of more than 1 MB: shorten it"):
        list(csv_rows(path, {}, Tally(), "hint"))
    path.write_text("text,label\n" + "a" * (5 << 20) + ",0\n")
    with pytest.raises(DataError, match=r"huge\.csv:2: a line of more than 4 MB"):
        list(csv_rows(path, {}, Tally(), "hint"))
