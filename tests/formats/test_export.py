"""An export comes back as it went in, and one that is damaged says so."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError, DataError
from deadpan.formats.export import Submission, read_export, write_csv, write_export
from deadpan.records import Judgment, Label
from deadpan.storage import read_manifest
from strategies import texts

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
    assert (list(read.judgments), list(read.labels), list(read.submissions)) == (
        JUDGMENTS,
        LABELS,
        SUBMISSIONS,
    )
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
