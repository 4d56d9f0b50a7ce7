"""Predictions survive every format, and a file that holds none says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.predictions import prediction_line, read_predictions, read_systems, write_predictions
from deadpan.records import Prediction

PREDICTIONS = [
    Prediction("a/1", True, 0.75, "yes"),
    Prediction('b,"2"\n', False, 0.25),
    Prediction("월요일", None, None),
]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".csv", ".tsv"])
def test_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"system{suffix}"
    assert write_predictions(path, PREDICTIONS) == 3
    read = read_predictions(path)
    assert [(p.example_id, p.label, p.score) for p in read] == [(p.example_id, p.label, p.score) for p in PREDICTIONS]


def test_a_line_of_the_stream_is_a_line_of_the_file(tmp_path: Path) -> None:
    written = tmp_path / "written.jsonl"
    write_predictions(written, PREDICTIONS)
    streamed = "\n".join(prediction_line(p) for p in PREDICTIONS)
    assert streamed.split("\n") == written.read_text(encoding="utf-8").split("\n")[:-1]


def test_other_systems_may_write_id_and_words(tmp_path: Path) -> None:
    table = tmp_path / "theirs.csv"
    table.write_text("example_id,label,score\n1,not sarcastic,\n2,1,0.9\n3,,\n")
    assert [(p.example_id, p.label, p.score) for p in read_predictions(table)] == [
        ("1", False, None),
        ("2", True, 0.9),
        ("3", None, None),
    ]
    lines = tmp_path / "theirs.jsonl"
    lines.write_text(
        '{"id": 7, "label": true}\n{"line": 2, "error": "empty"}\n{"id": "e", "label": false, "raw": "no"}\n'
    )
    tally = Tally()
    assert read_predictions(lines, tally) == [Prediction("7", True), Prediction("e", False, None, "no")]
    assert tally.drops == {"no_prediction": 1}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("p.csv", "id,label\n1,maybe\n", "p.csv:2: label 'maybe' is not known"),
        ("p.csv", "id,label,score\n1,yes,high\n", "p.csv:2: score 'high' is not a number"),
        ("p.csv", "id,score\n1,0.5\n", "no column 'label'"),
        ("p.jsonl", json.dumps({"example_id": "1", "label": "yes"}) + "\n", "p.jsonl:1: not a prediction"),
        ("p.jsonl", prediction_line(PREDICTIONS[0]) + '\n{"example_id', "p.jsonl:2"),
    ],
)
def test_a_file_that_holds_none_is_refused(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as error:
        read_predictions(tmp_path / name)
    assert says in str(error.value)


def test_an_unknown_extension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"predictions are \.jsonl"):
        write_predictions(tmp_path / "p.txt", PREDICTIONS)
    with pytest.raises(DataError, match="no such file"):
        read_predictions(tmp_path / "p.csv")


def test_an_unsupported_language_is_named_and_read_back_as_no_label(tmp_path):
    path = tmp_path / "predictions.csv"
    write_predictions(path, [Prediction("a", None, None, "not supported: German"), Prediction("b", None, 0.4)])
    assert "not supported" in path.read_text()
    assert [(one.label, one.score) for one in read_predictions(path)] == [(None, None), (None, 0.4)]


def test_a_scored_table_keeps_the_truth_apart(tmp_path: Path) -> None:
    table = tmp_path / "scored.csv"
    table.write_text(
        "id,label,score,predicted_label,predicted_score,raw\n1,no,9,yes,0.75,hm\n2,yes,9,cannot tell,nan,\n"
    )
    assert read_predictions(table)[0] == Prediction("1", True, 0.75, "hm")
    second = read_predictions(table)[1]
    assert (second.label, second.score, second.raw) == (None, None, "")


def test_systems_are_named_by_their_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.jsonl", "b.csv"):
        write_predictions(tmp_path / name, PREDICTIONS[:1])
    assert list(read_systems([tmp_path / "a.csv", tmp_path / "b.csv"])) == ["a", "b"]
    with pytest.raises(ConfigError, match="two files of predictions are called 'b'"):
        read_systems([tmp_path / "b.csv", tmp_path / "b.jsonl"])


def test_a_line_without_a_label_and_without_an_error_is_no_prediction(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"example_id": "1", "score": 0.5}\n')
    with pytest.raises(DataError, match="not a prediction"):
        read_predictions(tmp_path / "p.jsonl")
