"""A study folder comes back as it went in, and one that is damaged says so."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment, Label, Turn
from deadpan.storage import read_manifest
from deadpan.studies import (
    Study,
    StudyItem,
    Submission,
    read_export,
    read_study,
    write_csv,
    write_export,
    write_study,
)
from strategies import json_values, names, texts, turns

STUDY = Study(
    "sarcasm", "비꼬는 말인가요?", language="ko", seed=7, settings={"share": 0.65, "keys": ["1", "2"]}
)
ITEMS = [
    StudyItem(
        "a",
        Turn("B", "와, 대단하네"),
        (Turn("A", "또 졌어"),),
        ("예", "아니요"),
        shown={"topic": "야구"},
        hidden={"label": True, "system": "x"},
    ),
    StudyItem("b", Turn("", "fine")),
]
JUDGMENTS = [
    Judgment("a", "p1", "sarcastic", "=1+1", 2.5, "2025-03-01T10:00:00Z"),
    Judgment("a", "p2", "sarcastic", "예", -0.5, "2025-03-01T10:00:01Z"),
]
LABELS = [Label("a", "sarcastic", "yes", {"yes": 0.5, "no": 0.5}, 2, "majority")]
SUBMISSIONS = [Submission("s1", "p1", {"text": "@home", "age": 30}, 61.0, "2025-03-01T10:00:00Z")]


def test_a_study_comes_back_as_it_went_in(tmp_path):
    tally = Tally()
    tally.drop("too_long")
    assert write_study(tmp_path / "s", STUDY, ITEMS, command="generate study", tally=tally) == 2
    assert read_study(tmp_path / "s") == (STUDY, ITEMS)
    manifest = read_manifest(tmp_path / "s")
    assert (manifest.command, manifest.seed, manifest.counts) == ("generate study", 7, {"items": 2})
    assert manifest.drops == {"too_long": 1}
    assert set(manifest.files) == {"study.toml", "items.jsonl"}


items = st.lists(
    st.builds(
        StudyItem,
        id=names.filter(str.strip),
        response=turns.filter(lambda turn: turn.text.strip()),
        context=st.lists(turns, max_size=2).map(tuple),
        options=st.lists(names, max_size=3).map(tuple),
        shown=st.dictionaries(st.just("shown"), json_values),
        hidden=st.dictionaries(st.just("hidden"), json_values),
    ),
    max_size=3,
    unique_by=lambda item: item.id,
)
said = texts.filter(str.strip)


@settings(max_examples=15, deadline=None)
@given(st.builds(Study, said, said, said, said, st.integers(0, 2**32), st.integers(1, 9)), items)
def test_any_study_comes_back(study, made):
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder), study, made)
        assert read_study(Path(folder)) == (study, made)


def test_the_same_study_is_written_as_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_study(tmp_path / name, STUDY, ITEMS)
    for name in ("study.toml", "items.jsonl", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([ITEMS[0], ITEMS[1], ITEMS[0]], "item 3 has the id 'a' of item 1"),
        ([StudyItem("a", Turn("B", " \n"))], "item 'a' has no text"),
        ([StudyItem(" ", Turn("B", "x"))], "item 1 has no id"),
        ([StudyItem("a", Turn("B", "x"), shown={"y": 1}, hidden={"y": 2})], "both shows and hides 'y'"),
    ],
)
def test_items_that_cannot_be_asked_about_are_refused_and_nothing_is_written(tmp_path, bad, said):
    with pytest.raises(DataError, match=said):
        write_study(tmp_path / "s", STUDY, bad)
    assert not (tmp_path / "s").exists()


def test_a_study_without_raters_or_a_title_is_refused():
    with pytest.raises(ConfigError, match="raters_per_item needs 1 or more"):
        Study("sarcasm", "t", raters_per_item=0)
    with pytest.raises(ConfigError, match="title is empty"):
        Study("sarcasm", " ")


def test_a_misspelt_key_names_the_nearest(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "study.toml"
    path.write_text(path.read_text("utf-8").replace("raters_per_item", "rater_per_item"), "utf-8")
    with pytest.raises(
        ConfigError, match=r"study\.toml: unknown key 'rater_per_item': did you mean 'raters_per"
    ):
        read_study(tmp_path)


def test_study_toml_may_be_edited_by_hand(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "study.toml"
    path.write_text(path.read_text("utf-8").replace("raters_per_item = 3", "raters_per_item = 5"), "utf-8")
    assert read_study(tmp_path)[0].raters_per_item == 5


def test_a_folder_without_a_manifest_was_cut_short(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="was cut short"):
        read_study(tmp_path)
    with pytest.raises(DataError, match="no such study folder"):
        read_study(tmp_path / "absent")


def test_writing_again_that_fails_does_not_leave_the_old_manifest(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    with pytest.raises(DataError, match="cannot be written"):
        write_study(tmp_path, STUDY, [StudyItem("a", Turn("", "x"), hidden={"y": object()})])
    with pytest.raises(DataError, match="was cut short"):
        read_study(tmp_path)


def test_items_cut_off_at_a_line_are_noticed(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "items.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(DataError, match=r"items\.jsonl: not as manifest\.json says"):
        read_study(tmp_path)


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "s").write_text("x")
    with pytest.raises(DataError, match="in the way"):
        write_study(tmp_path / "s", STUDY, ITEMS)


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
    assert sorted(p.name for p in tmp_path.iterdir()) == ["judgments.jsonl", "labels.jsonl", "manifest.json"]


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
