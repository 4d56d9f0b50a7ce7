"""What a scored table is worth: scores, errors to read, curves, and two files compared."""

from __future__ import annotations

import csv
import json

import pytest

from deadpan.datasets.reading import Reading
from deadpan.datasets.scored import read_scored, score_files
from deadpan.errors import DataError

HEAD = "tweet,sarcastic,label,score\n"


def table(path, wrong=0):
    """Forty rows; the first `wrong` sarcastic ones are missed, the first of them most clearly."""
    rows = []
    for n in range(40):
        truth = n % 2 == 0
        score = (0.9 if truth else 0.1) if not truth or n // 2 >= wrong else 0.05 + n / 100
        rows.append(
            f"text {n},{'yes' if truth else 'no'},{'sarcastic' if score > 0.5 else 'sincere'},{score}\n"
        )
    path.write_text(HEAD + "".join(rows))
    return path


def test_scores_errors_and_curves_of_one_file(tmp_path):
    report = score_files([table(tmp_path / "a.csv", wrong=5)])
    scores = report.systems.tables["a"].scores
    assert scores["recall"].value == 0.75 and scores["precision"].value == 1
    assert [one.example.response.text for one in report.errors["a"]] == [f"text {n}" for n in (0, 2, 4, 6, 8)]
    assert 0 < report.curves["a"].average_precision < 1
    assert "a: 5 errors" in str(report) and "answered sarcastic" in str(report)
    report.write(tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "errors-a.csv").read_text().splitlines()))
    assert [row["row"] for row in rows] == ["1", "3", "5", "7", "9"]
    told = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert told["systems"]["a"]["confusion"] == [[20, 0, 0], [5, 15, 0]]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "errors to read" in page and "<svg" in page


def test_rows_left_out_are_told_and_all_counted_in_json(tmp_path):
    path = table(tmp_path / "a.csv")
    path.write_text(path.read_text() + "text 40,,sincere,0.1\ntext 41,maybe,sincere,0.1\n")
    report = score_files([path], Reading(positive=("yes",), negative=("no",)))
    assert "a.csv: excluded: label_unknown.maybe 1, no_true_label 1" in str(report)
    assert report.as_dict()["excluded"][str(path)]["drops"] == {"label_unknown.maybe": 1, "no_true_label": 1}


def test_two_files_are_compared(tmp_path):
    files = [table(tmp_path / "a.csv"), table(tmp_path / "b.csv", wrong=10)]
    report = score_files(files, metric="accuracy")
    assert report.systems.comparisons[0].significant
    assert report.systems.comparisons[0].difference.value == pytest.approx(0.25)


def test_files_of_different_tables_are_not_compared(tmp_path):
    table(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text(HEAD + "text 0,yes,sarcastic,1\n")
    with pytest.raises(DataError, match="not the same table"):
        score_files([tmp_path / "a.csv", tmp_path / "b.csv"])
    text = (tmp_path / "a.csv").read_text().replace("text 7,no", "text 7,yes")
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(DataError, match="row 8 has a different text or label"):
        score_files([tmp_path / "a.csv", tmp_path / "c.csv"])


def test_predictions_are_never_taken_for_the_truth(tmp_path):
    (tmp_path / "a.csv").write_text("text,label,score\nx,sarcastic,0.9\n")
    with pytest.raises(DataError, match="no column of predictions"):
        read_scored(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("text,gold,label,score\nx,no,sarcastic,0.9\ny,yes,cannot tell,0.5\n")
    file = read_scored(tmp_path / "b.csv", Reading(columns=(("label", "gold"),)))
    assert [(e.label, p.label) for e, p in zip(file.examples, file.predictions, strict=True)] == [
        (False, True), (True, None),
    ]  # fmt: skip
    (tmp_path / "c.csv").write_text("text,sarcastic,label,score\nx,,sarcastic,0.9\n")
    with pytest.raises(DataError, match="no row has a true label"):
        read_scored(tmp_path / "c.csv")


def test_a_missing_file_is_called_missing(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        score_files([tmp_path / "none.csv"])
