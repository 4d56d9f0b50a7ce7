"""One table in, one table out: nothing of it is lost, and its scores, errors and curves are reported."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.datasets.reading import Reading
from deadpan.datasets.scored import read_scored, score_files, score_table
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.tables import WRITTEN, header_of, read_table, write_table
from deadpan.records import Example, Prediction

TABLE = 'Tweet,User,Sarcastic,Likes\n"Great, more rain #sarcasm",u1,maybe,3\n,u2,no,\nIt rains.,u3,no,1\n'
READING = Reading(columns=(("text", "tweet"),))


def predict(examples: list[Example]) -> list[Prediction]:
    """A detector for which only texts with "Great" are sarcastic, and that never sees a label."""
    assert all(example.label is None for example in examples)
    assert not any("#" in example.response.text for example in examples)
    return [Prediction(e.id, "Great" in e.response.text, 0.9 if "Great" in e.response.text else 0.1) for e in examples]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.csv").write_text(TABLE)
    return tmp_path / "mine.csv"


@pytest.mark.parametrize("suffix", WRITTEN)
def test_every_row_and_column_is_kept(mine, tmp_path, suffix):
    out = tmp_path / f"scored{suffix}"
    result = score_table(mine, out, predict, READING, reason=lambda example, prediction: "because")
    rows = [dict(row.fields) for row in read_table(out, Tally(), "", exact=True)]
    assert list(rows[0]) == ["Tweet", "User", "Sarcastic", "Likes", "label", "score", "reason"]
    assert [row["User"] for row in rows] == ["u1", "u2", "u3"]
    assert rows[0]["Tweet"] == "Great, more rain #sarcasm"
    assert [row["label"] or "" for row in rows] == ["sarcastic", "", "sincere"]
    assert rows[1]["reason"] == "no text to judge"
    assert (result.rows, result.as_dict()["answers"]) == (3, {"sarcastic": 1, "sincere": 1, "not judged": 1})


def test_names_that_are_taken_are_not_overwritten(tmp_path):
    (tmp_path / "t.csv").write_text("text,label,Score\nGreat,1,7\n")
    assert score_table(tmp_path / "t.csv", tmp_path / "a.csv", predict).columns == (
        "predicted_label",
        "predicted_score",
    )
    score_table(tmp_path / "a.csv", tmp_path / "b.csv", predict, Reading(columns=(("label", "label"),)))
    header = (tmp_path / "b.csv").read_text().splitlines()[0]
    assert header == "text,label,Score,predicted_label,predicted_score,predicted_2_label,predicted_2_score"


def test_parquet_keeps_its_types(tmp_path):
    table = pa.table({"text": ["Great", None], "when": pa.array([1, None], pa.timestamp("us")), "n": [1, 2]})
    pq.write_table(table, tmp_path / "t.parquet")
    score_table(tmp_path / "t.parquet", tmp_path / "s.parquet", predict)
    scored = pq.read_table(tmp_path / "s.parquet")
    assert scored.select(["text", "when", "n"]).equals(table)
    assert scored["score"].to_pylist() == [0.9, None]


def test_json_lines_keep_what_is_nested(tmp_path):
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": "Great", "x": {"deep": [1]}}) + "\n")
    score_table(tmp_path / "t.jsonl", tmp_path / "s.jsonl", predict)
    assert json.loads((tmp_path / "s.jsonl").read_text())["x"] == {"deep": [1]}


def test_labels_that_the_first_json_line_lacks_are_not_overwritten(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "Great"}\n{"text": "It rains.", "label": 1, "n": 2}\n')
    score_table(tmp_path / "t.jsonl", tmp_path / "s.csv", predict)
    header, _, last = (tmp_path / "s.csv").read_text().splitlines()
    assert header == "text,label,n,predicted_label,predicted_score"
    assert last == "It rains.,1,2,sincere,0.1"


def test_the_table_itself_is_never_replaced(mine):
    with pytest.raises(ConfigError, match="is the input table: choose another name"):
        score_table(mine, mine, predict, READING)
    assert mine.read_text() == TABLE


def test_a_table_that_breaks_off_leaves_no_output(tmp_path):
    (tmp_path / "t.csv").write_text('text,n\nGreat,1\n"never closed,2\n')
    with pytest.raises(DataError, match="not CSV from here on"):
        score_table(tmp_path / "t.csv", tmp_path / "s.csv", predict)
    assert not (tmp_path / "s.csv").exists()


def test_rows_that_cannot_be_read_are_counted(tmp_path):
    (tmp_path / "t.csv").write_text("text,n\nGreat,1\nno, quotes,2\n")
    result = score_table(tmp_path / "t.csv", tmp_path / "s.csv", predict)
    assert (result.rows, result.tally.drops) == (1, {"bad_row": 1})


def test_rows_of_spreadsheets_are_kept(tmp_path):
    """They end early where the last cells are empty, or have empty cells behind."""
    (tmp_path / "t.csv").write_text("id,text,n\n1,Great\n2,Fine,5,,\n3\n")
    result = score_table(tmp_path / "t.csv", tmp_path / "s.csv", predict)
    assert result.rows == 3 and not result.tally.drops
    rows = (tmp_path / "s.csv").read_text("utf-8").splitlines()
    assert rows[1].startswith("1,Great,,") and rows[2].startswith("2,Fine,5,") and rows[3] == "3,,,,"


def test_a_table_without_rows_keeps_its_header(tmp_path):
    (tmp_path / "t.csv").write_text("ID;Text\n")
    assert score_table(tmp_path / "t.csv", tmp_path / "s.csv", predict).rows == 0
    assert (tmp_path / "s.csv").read_text("utf-8").strip() == "ID,Text,label,score"
    (tmp_path / "t.csv").write_text("ID;Note\n")
    with pytest.raises(DataError, match="no column 'text'"):
        score_table(tmp_path / "t.csv", tmp_path / "s.csv", predict)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_a_table_without_rows_keeps_its_columns(tmp_path, suffix):
    source, out = tmp_path / f"mine{suffix}", tmp_path / f"out{suffix}"
    write_table(source, ["tweet", "label"], [], pa.schema([("tweet", pa.string()), ("label", pa.int8())]))
    assert score_table(source, out, predict, READING).columns == ("predicted_label", "predicted_score")
    assert header_of(out, "") == ["tweet", "label", "predicted_label", "predicted_score"]


def test_the_summary_says_which_rows_were_not_judged_and_which_sheets_not_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for cells in (["id", "text"], [1, "Great"], [2, None], [3, None]):
        book.active.append(cells)
    book.create_sheet("Older").append(["text"])
    book.save(tmp_path / "t.xlsx")
    told = " ".join(str(score_table(tmp_path / "t.xlsx", tmp_path / "s.csv", predict)).split())
    assert "not judged: 2 rows without a text" in told
    assert "only the first sheet was read; not read: Older" in told
    assert "changed" not in told


HEAD = "tweet,sarcastic,label,score\n"


def table(path, wrong=0):
    """Forty rows; the first `wrong` sarcastic ones are missed, the first of them most clearly."""
    rows = []
    for n in range(40):
        truth = n % 2 == 0
        score = (0.9 if truth else 0.1) if not truth or n // 2 >= wrong else 0.05 + n / 100
        rows.append(f"text {n},{'yes' if truth else 'no'},{'sarcastic' if score > 0.5 else 'sincere'},{score}\n")
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


def test_the_finding_names_rows_without_an_answer_and_a_winner_only_if_it_is_one(tmp_path):
    def table(name: str, right: int, silent: int = 0):
        lines = ["id,text,label,predicted_label,predicted_score"]
        for n in range(40):
            answer = "cannot tell" if n < silent else n % 2 if n < right else 1 - n % 2
            lines.append(f"{n},text {n},{n % 2},{answer},0.5")
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / name

    shy = score_files([table("shy.csv", 40, silent=10)]).about().finding
    assert shy.endswith("Rows without an answer, which count as wrong: shy 10.")
    poor = score_files([table("poor.csv", 20)]).about().finding
    assert poor.startswith("poor is not significantly better than a constant answer on 40 labelled rows")
    both = score_files([table("worse.csv", 10), table("good.csv", 38)]).about().finding
    assert both.startswith("good does best on 40 labelled rows")
    alike = score_files([table("a.csv", 36), table("b.csv", 35)]).about().finding
    assert alike.startswith("No system is significantly better than all others")
