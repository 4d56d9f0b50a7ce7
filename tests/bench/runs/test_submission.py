"""A submission is checked row by row against the set."""

from __future__ import annotations

import json

import pytest

from bench_items import right, run_scripted, small_set
from deadpan.bench.runs.submission import check_submission
from deadpan.errors import DataError

SET = small_set(6)


@pytest.fixture
def sent(tmp_path):
    return run_scripted(tmp_path / "sent", "openai/m", right, SET).path


def edit(folder, change):
    """Rewrite the rows of a run as JSON values."""
    path = folder / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))


def test_a_complete_run_passes(sent):
    found = check_submission(sent, SET)
    assert found.as_dict()["model"] == "openai/m"
    assert "fit for the leaderboard" in str(found)


def test_a_changed_item_is_found(sent):
    edit(sent, lambda rows: [{**rows[0], "answer": "F" if rows[0]["answer"] != "F" else "A"}, *rows[1:]])
    with pytest.raises(DataError, match="its key is"):
        check_submission(sent, SET)


def test_a_row_marked_right_by_hand_is_found(sent):
    edit(sent, lambda rows: [{**rows[0], "prediction": ""}, *rows[1:]])
    with pytest.raises(DataError, match="against its own letter"):
        check_submission(sent, SET)


def test_a_letter_that_the_answer_does_not_name_is_found(sent):
    wrong = lambda row: "A" if row["answer"] != "A" else "B"  # noqa: E731
    edit(sent, lambda rows: [{**rows[0], "prediction": wrong(rows[0]), "correct": False}, *rows[1:]])
    with pytest.raises(DataError, match="but its text says"):
        check_submission(sent, SET)
    edit(sent, lambda rows: [{**rows[0], "order": "AB"}, *rows[1:]])
    with pytest.raises(DataError, match="not an order of its options"):
        check_submission(sent, SET)


def test_missing_rows_are_counted(sent):
    edit(sent, lambda rows: rows[3:])
    with pytest.raises(DataError, match="3 rows are missing"):
        check_submission(sent, SET)


def test_a_row_sent_twice_is_found(sent):
    edit(sent, lambda rows: [*rows, rows[0]])
    with pytest.raises(DataError, match="there twice"):
        check_submission(sent, SET)


def test_another_set_is_refused(sent):
    with pytest.raises(DataError, match="name its set"):
        check_submission(sent, small_set(8))
    with pytest.raises(DataError, match=r"not public@"):
        check_submission(sent)


def test_a_folder_without_manifest_or_run_is_refused(sent, tmp_path):
    (sent / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"no manifest\.json"):
        check_submission(sent, SET)
    with pytest.raises(DataError, match="no such folder"):
        check_submission(tmp_path / "nothing", SET)
    with pytest.raises(DataError, match=r"no run in it \(no run\.json\): give the folder of one run"):
        check_submission(sent.parent, SET)
