"""Judgments of any tool: one answer per row, or one rater per column."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from deadpan.errors import DataError
from deadpan.formats.judgments import read_judgments
from deadpan.ratings import ratings_from_judgments
from deadpan.records import Judgment
from deadpan.storage import write_records

LONG = "item,rater,label\na,x,1\na,y,0\nb,x,1\nb,y,\n"
WIDE = "id,x,y\na,1,0\nb,1,\n"


@pytest.mark.parametrize("text", [LONG, WIDE, LONG.replace(",", ";")])
def test_long_and_wide_tables_say_the_same(tmp_path: Path, text: str) -> None:
    path = tmp_path / "j.csv"
    path.write_text(text)
    found = {(j.item_id, j.annotator): j.answer for j in read_judgments(path) if j.answer}
    assert found == {("a", "x"): "1", ("a", "y"): "0", ("b", "x"): "1"}


def test_a_column_of_texts_is_no_rater(tmp_path: Path) -> None:
    rows = [f"{n},Text number {n}.,{'yes' if n % 2 else 'no'},yes" for n in range(6)]
    (tmp_path / "j.csv").write_text("id,text,ann,bob\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match="the column 'text' holds no answers"):
        read_judgments(tmp_path / "j.csv")
    measured = [f"{n},{n + 0.25},{n + 0.5}" for n in range(6)]  # numbers are answers, though none is repeated
    (tmp_path / "j.csv").write_text("id,ann,bob\n" + "\n".join(measured) + "\n")
    assert len(read_judgments(tmp_path / "j.csv")) == 12


@pytest.mark.parametrize(
    "text", ["item,rater,label\na,x,yes\na,y,no\na,x,no\n", "id,x,y\na,yes,no\na,no,no\n"]
)
def test_two_different_answers_of_one_rater_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "j.csv").write_text(text)
    with pytest.raises(DataError, match=r"'x' answers item 'a' with 'no', but with 'yes' in j\.csv:2"):
        read_judgments(tmp_path / "j.csv")


def test_a_repeated_or_empty_second_answer_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("item,rater,label\na,x,\na,x,yes\na,x,yes\na,x,\n")
    found = read_judgments(tmp_path / "j.csv")
    assert [(judgment.answer, judgment.seconds) for judgment in found] == [("", 0.0), ("yes", 0.0)]
    ratings = ratings_from_judgments(found)
    assert (ratings.categories, ratings.codes.tolist()) == (("yes",), [[0]])


def test_times_in_a_table_say_which_answer_is_the_last(tmp_path: Path) -> None:
    later, earlier = "a,x,no,2026-01-02T00:00:00Z", "a,x,yes,2026-01-01T00:00:00Z"
    (tmp_path / "j.csv").write_text(f"item,rater,label,created_at\n{later}\n{earlier}\n")
    assert ratings_from_judgments(read_judgments(tmp_path / "j.csv")).categories == ("no",)


def test_exports_of_the_studio_keep_their_times(tmp_path: Path) -> None:
    rows = [Judgment("a", "x", "q", "yes", 2.5, "2026-01-01T00:00:00Z")]
    for name in ("j.jsonl", "j.parquet"):
        write_records(tmp_path / name, rows, Judgment)
        assert read_judgments(tmp_path / name) == rows
    write_records(tmp_path / "none.parquet", [], Judgment)
    assert read_judgments(tmp_path / "none.parquet") == []


@pytest.mark.parametrize("time", ["", ',"created_at":"2026-01-01T00:00:00Z"'])
def test_json_lines_of_other_tools_are_tables(tmp_path: Path, time: str) -> None:
    (tmp_path / "j.jsonl").write_text(f'{{"item_id":"a","annotator":"x","answer":"yes"{time}}}\n')
    [found] = read_judgments(tmp_path / "j.jsonl")
    assert (found.item_id, found.annotator, found.answer, found.question) == ("a", "x", "yes", "")


def test_from_five_rows_on_a_column_without_a_repeated_answer_is_texts(tmp_path: Path) -> None:
    rows = [f"{n},Text number {n}.,{'yes' if n % 2 else 'no'},yes" for n in range(5)]
    (tmp_path / "j.csv").write_text("id,text,ann,bob\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match="the column 'text' holds no answers"):
        read_judgments(tmp_path / "j.csv")
    (tmp_path / "j.csv").write_text("id,text,ann,bob\n" + "\n".join(rows[:4]) + "\n")
    assert len(read_judgments(tmp_path / "j.csv")) == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [("item,rater\na,x\n", "no judgments"), ("item\na\n", "no judgments"), ("", "empty"),
     ("item,rater,label\na,x,1\nb,y\n", "is the file complete")],
)  # fmt: skip
def test_other_tables_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "j.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_judgments(tmp_path / "j.csv")
    with pytest.raises(DataError, match="no such file"):
        read_judgments(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_judgments(tmp_path)


def test_a_sheet_whose_header_is_not_in_its_first_row_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cells in (["Survey 2024"], ["item", "anna", "ben"], ["1", "yes", "no"]):
        book.active.append(cells)
    book.save(tmp_path / "j.xlsx")
    with pytest.raises(DataError, match=r"column 2 has no name in the first row.*column per rater"):
        read_judgments(tmp_path / "j.xlsx")
