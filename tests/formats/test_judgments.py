"""Judgments of any tool: one answer per row, or one rater per column."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError, DataError
from deadpan.formats.judgments import Submission, read_export, read_judgments, write_csv, write_export
from deadpan.ratings import ratings_from_judgments
from deadpan.records import Judgment, Label
from deadpan.storage import read_manifest, write_records
from strategies import texts

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


@pytest.mark.parametrize("text", ["item,rater,label\na,x,yes\na,y,no\na,x,no\n", "id,x,y\na,yes,no\na,no,no\n"])
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


JUDGMENTS = [
    Judgment("a", "p1", "sarcastic", "=1+1", 2.5, "2025-03-01T10:00:00Z"),
    Judgment("a", "p2", "sarcastic", "예", -0.5, "2025-03-01T10:00:01Z"),
]
LABELS = [Label("a", "sarcastic", "yes", {"yes": 0.5, "no": 0.5}, 2, "majority")]
SUBMISSIONS = [Submission("s1", "p1", {"text": "@home", "age": 30}, 61.0, "2025-03-01T10:00:00Z")]


def test_an_export_comes_back_as_it_went_in(tmp_path):
    counts = write_export(tmp_path, iter(JUDGMENTS), iter(LABELS), iter(SUBMISSIONS))
    assert counts == {"judgments": 2, "labels": 1, "submissions": 1}
    read = read_export(tmp_path)
    assert (list(read.judgments), list(read.labels), list(read.submissions)) == (JUDGMENTS, LABELS, SUBMISSIONS)
    assert read_manifest(tmp_path).counts == counts


def test_an_export_without_submissions_is_no_survey(tmp_path):
    write_export(tmp_path, JUDGMENTS, LABELS)
    assert not (tmp_path / "submissions.jsonl").exists()
    assert read_export(tmp_path).submissions == ()


def test_a_second_export_leaves_nothing_of_the_first(tmp_path):
    write_export(tmp_path, JUDGMENTS, LABELS, SUBMISSIONS, csv=True)
    write_export(tmp_path, JUDGMENTS[:1], LABELS)
    left = ["README.md", "judgments.jsonl", "labels.jsonl", "manifest.json"]
    assert sorted(p.name for p in tmp_path.iterdir()) == left


def test_files_of_somebody_else_are_neither_replaced_nor_listed(tmp_path):
    (tmp_path / "README.md").write_text("# A project")
    with pytest.raises(ConfigError, match=r"README\.md: not written by deadpan"):
        write_export(tmp_path, JUDGMENTS, LABELS)
    (tmp_path / "README.md").rename(tmp_path / "notes.md")
    for _ in range(2):
        write_export(tmp_path, JUDGMENTS, LABELS)
    assert set(read_manifest(tmp_path).files) == {"README.md", "judgments.jsonl", "labels.jsonl"}
    (tmp_path / "manifest.json").unlink()  # as a run that was killed leaves it
    write_export(tmp_path, JUDGMENTS, LABELS)


@pytest.mark.parametrize("name", ["judgments.jsonl", "labels.jsonl", "submissions.jsonl"])
def test_a_damaged_export_is_noticed(tmp_path, name):
    write_export(tmp_path, JUDGMENTS, LABELS, SUBMISSIONS)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=name):
        read_export(tmp_path)


def test_an_export_cut_short_is_noticed(tmp_path):
    write_export(tmp_path, JUDGMENTS, LABELS)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="was cut short"):
        read_export(tmp_path)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_on_request_runs_nothing_in_a_spreadsheet(tmp_path):
    write_export(tmp_path, JUDGMENTS, LABELS, SUBMISSIONS, csv=True)
    first, second = rows_of(tmp_path / "judgments.csv")
    assert first["answer"] == "'=1+1"
    assert (second["answer"], second["seconds"]) == ("예", "-0.5")
    assert json.loads(rows_of(tmp_path / "labels.csv")[0]["distribution"]) == {"yes": 0.5, "no": 0.5}
    assert json.loads(rows_of(tmp_path / "submissions.csv")[0]["answers"])["text"] == "@home"
    assert "judgments.csv" in read_manifest(tmp_path).files


@settings(max_examples=30, deadline=None)
@given(st.sampled_from("=+-@\t\r\n＝＋－＠"), texts)
def test_no_cell_starts_a_formula(start, rest):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        write_csv(path, [Judgment("i", start + rest, "q", start, 1.0, "t")], Judgment)
        row = rows_of(path)[0]
        assert row["annotator"].startswith("'") and row["answer"].startswith("'")
