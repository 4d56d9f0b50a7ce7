"""One table, the same rows whatever its format and encoding."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats import tables
from deadpan.formats.tables import WRITTEN, header_of, read_table, write_table

ROWS = [{"text": "월요일, 최고", "label": "1"}, {"text": "비가 온다", "label": "0"}]
CSV = 'text,label\n"월요일, 최고",1\n비가 온다,0\n'


def write(path: Path) -> None:
    kind = path.suffix
    if kind == ".parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in ROWS))
    elif kind == ".json":
        path.write_text(json.dumps(ROWS))
    elif kind == ".tsv":
        path.write_text("text\tlabel\n월요일, 최고\t1\n비가 온다\t0\n", encoding="utf-8")
    elif kind == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [["text", "label"], *(list(row.values()) for row in ROWS)]:
            book.active.append(row)
        book.save(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".tsv", ".parquet", ".xlsx"])
def test_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine{suffix}"
    write(path)
    assert [dict(row.fields) for row in read_table(path, Tally(), "")] == ROWS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(CSV, encoding=encoding)
    assert [dict(row.fields) for row in read_table(path, Tally(), "")] == ROWS


@pytest.mark.parametrize(("encoding", "text"), [("cp949", CSV), ("cp1252", "text,label\nça va très bien,1\n")])
def test_windows_encodings_are_found_and_reported(tmp_path: Path, encoding: str, text: str) -> None:
    path, tally = tmp_path / "mine.csv", Tally()
    path.write_text(text, encoding=encoding)
    expected = [dict(zip(("text", "label"), row, strict=True)) for row in csv.reader(text.splitlines()[1:])]
    assert [dict(row.fields) for row in read_table(path, tally, "")] == expected
    assert tally.changes == {f"read_as_{encoding}": 1}


def test_an_encoding_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"text,label\n\x00\xff\xfe\x80,1\n")
    with pytest.raises(DataError, match=r"mine\.csv:2: not UTF-8 text \(.*; probably binary data"):
        list(read_table(path, Tally(), ""))
    path.write_bytes(b"text,label\n" + "월요일,1\n".encode("cp949") * 2000 + b"\xb0\xa1 \xff\xb0\xa1,1\n")
    with pytest.raises(DataError, match=r"mine\.csv:2002: not UTF-8 or CP949 text \(illegal [a-z ]*\)"):
        list(read_table(path, Tally(), ""))


@pytest.mark.parametrize("whole", [False, True])
def test_json_rows_have_the_keys_of_all_rows(tmp_path: Path, whole: bool) -> None:
    rows = ['{"text": "a"}', '{"text": "b", "label": 1}']
    path = tmp_path / "mine.json"
    path.write_text(f"[{', '.join(rows)}]" if whole else "\n".join(rows))
    found = [dict(row.fields) for row in read_table(path, Tally(), "")]
    assert found == [{"text": "a", "label": None}, {"text": "b", "label": 1}]


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_long_json_lines_are_read_like_short_ones(tmp_path: Path, kept: int, monkeypatch) -> None:
    monkeypatch.setattr(tables, "KEPT_ROWS", kept)
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": "a"}\nnot JSON\n{"text": "b"}\n{"text": "c", "label": 1}\n')
    tally = Tally()
    found = [(row.number, dict(row.fields)) for row in read_table(path, tally, "")]
    assert found == [
        (1, {"text": "a", "label": None}), (3, {"text": "b", "label": None}), (4, {"text": "c", "label": 1}),
    ]  # fmt: skip
    assert tally.drops == {"bad_row": 1} and tally.places["bad_row"][0].startswith("mine.jsonl:2: not a JSON")


def test_an_empty_json_array_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[]")
    assert list(read_table(tmp_path / "mine.json", Tally(), "")) == []


def test_columns_of_a_sheet_are_kept_though_unnamed_or_named_twice(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cells in (["text", None, "label", "label", None], ["a", "note", 1, 0, None], ["b"]):
        book.active.append(cells)
    book.save(tmp_path / "mine.xlsx")
    names = ("text", "column 2", "label", "label (4)")
    found = [tuple(row.fields.items()) for row in read_table(tmp_path / "mine.xlsx", Tally(), "")]
    assert found == [
        tuple(zip(names, ("a", "note", 1, 0), strict=True)),
        tuple(zip(names, ("b", None, None, None), strict=True)),
    ]


def test_a_column_of_a_sheet_behind_the_last_name_is_kept_if_it_has_a_value(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cells in ([], ["text", "label"], ["a", 1, None, "note", ""], [None, None], ["b", 0]):
        book.active.append(cells)
    book.save(tmp_path / "mine.xlsx")
    rows = list(read_table(tmp_path / "mine.xlsx", Tally(), ""))
    assert [row.fields for row in rows] == [
        {"text": "a", "label": 1, "column 3": None, "column 4": "note"},
        {"text": "b", "label": 0, "column 3": None, "column 4": None},
    ]
    assert [(row.number, row.place) for row in rows] == [(1, "mine.xlsx:3"), (3, "mine.xlsx:5")]


def test_the_first_of_two_columns_of_one_name_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("text,label,Label\na,1,0\n")
    (row,) = read_table(tmp_path / "mine.csv", Tally(), "")
    assert dict(row.fields) == {"text": "a", "label": "1", "label (3)": "0"}


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_named_binary_data(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(random.Random(seed).randbytes(3000))
    with pytest.raises(DataError, match="probably binary data"):
        list(read_table(path, Tally(), ""))


def test_names_of_columns_can_be_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(",Text,text,Text\n1,a,b,c\n")
    (row,) = read_table(path, Tally(), "", exact=True)
    assert list(row.fields) == ["column 1", "Text", "text", "Text (4)"]


def test_a_sheet_without_anything_is_refused(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "mine.xlsx")
    with pytest.raises(DataError, match="first sheet is empty"):
        list(read_table(tmp_path / "mine.xlsx", Tally(), ""))


def test_the_sheets_that_are_not_read_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["text"])
    book.active.append(["Great."])
    for name in ("Notes", "Empty"):
        book.create_sheet(name)
    book["Notes"].append(["text"])
    book.save(tmp_path / "mine.xlsx")
    tally = Tally()
    assert len(list(read_table(tmp_path / "mine.xlsx", tally, ""))) == 1
    assert tally.changes == {"sheet_not_read.Notes": 1}
    book.active.delete_rows(1, 2)
    book.save(tmp_path / "mine.xlsx")
    with pytest.raises(DataError, match=r"first sheet is empty: move the table .*\(Notes\)"):
        list(read_table(tmp_path / "mine.xlsx", Tally(), ""))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_the_header_of_a_table_without_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.int8())}), path)
    elif suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(["text", "label", None])
        book.save(path)
    else:
        path.write_text("text,label\n")
    assert header_of(path, "") == ["text", "label"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("shift_jis", "素晴らしい月曜日ですね、また会議。"),
        ("euc_jp", "素晴らしい月曜日ですね、また会議。"),
        ("gbk", "太好了，又是一个可以用邮件解决的会议。"),
    ],
)
def test_japanese_and_chinese_are_not_taken_for_korean(tmp_path: Path, encoding: str, text: str) -> None:
    (tmp_path / "mine.csv").write_bytes(f"text,label\n{text},1\n".encode(encoding))
    with pytest.raises(DataError, match="save it as UTF-8"):
        list(read_table(tmp_path / "mine.csv", Tally(), ""))


def test_a_broken_workbook_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"PK not a workbook")
    with pytest.raises(DataError, match="not an Excel workbook"):
        list(read_table(path, Tally(), ""))


COLUMNS = ("text", "n", "turns")
TYPED = [{"text": '월요일, "최고"\nzwei', "n": 1, "turns": ["a", "b"]}, {"text": "=1+1", "n": None, "turns": ["c"]}]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_written_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    assert write_table(path, COLUMNS, TYPED) == 2
    rows = [row.fields for row in read_table(path, Tally(), "")]
    assert [row["text"] for row in rows] == [row["text"] for row in TYPED]
    assert [str(row.get("n") or "") for row in rows] == ["1", ""]
    assert '"a"' in str(rows[0]["turns"]).replace("'", '"')
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_no_rows_are_a_table_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    assert write_table(path, COLUMNS, []) == 0
    assert path.exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def rows():
        yield TYPED[0]
        raise DataError("cut off")

    for suffix in WRITTEN:
        with pytest.raises(DataError, match="cut off"):
            write_table(tmp_path / f"t{suffix}", COLUMNS, rows())
    assert list(tmp_path.iterdir()) == []


def test_mixed_types_in_parquet_are_one_line_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"write \.jsonl"):
        write_table(tmp_path / "t.parquet", ("a",), [{"a": 1}, {"a": "x"}])


def test_a_text_is_never_a_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write_table(tmp_path / "t.xlsx", COLUMNS, TYPED)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    assert sheet["A3"].data_type == "s"


def test_other_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.csv, \.tsv"):
        write_table(tmp_path / "t.doc", COLUMNS, TYPED)
