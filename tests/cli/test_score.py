"""deadpan score and deadpan agree."""

from __future__ import annotations

import pytest

from deadpan.datasets import read_dataset
from deadpan.formats.predictions import write_predictions
from deadpan.records import Example, Judgment, Label, Prediction
from deadpan.storage import read_manifest, read_records, write_records


@pytest.fixture
def gold(tmp_path):
    examples = read_dataset("starter-ko").examples
    write_records(tmp_path / "gold.jsonl", examples, Example)
    return examples


def test_two_systems_are_scored_and_compared(deadpan, tmp_path, gold):
    right = [Prediction(e.id, e.label, 0.9 if e.label else 0.1) for e in gold]
    wrong = [Prediction(e.id, not e.label, 0.1 if e.label else 0.9) for e in gold]
    write_records(tmp_path / "good.jsonl", right, Prediction)
    write_records(tmp_path / "bad.jsonl", wrong, Prediction)
    arguments = ("score", tmp_path / "gold.jsonl", tmp_path / "good.jsonl", tmp_path / "bad.jsonl")
    data = deadpan(*arguments, "--json").json
    assert data["systems"]["good"]["scores"]["accuracy"]["value"] == 1
    assert data["systems"]["bad"]["scores"]["pair_accuracy"]["value"] == 0
    assert data["comparisons"][0]["p_holm"] < 0.01
    assert "differ" in deadpan(*arguments).out


def test_predictions_of_something_else_are_refused(deadpan, tmp_path, gold):
    write_records(tmp_path / "other.jsonl", [Prediction("who", True)], Prediction)
    ran = deadpan("score", tmp_path / "gold.jsonl", tmp_path / "other.jsonl")
    assert ran.status == 2
    assert "no prediction" in ran.err


def test_agreement_explains_what_is_undefined_and_writes_labels(deadpan, tmp_path):
    rows = [Judgment(item, who, "q", "yes", 1.0, "2026-01-01T00:00:00Z") for item in "abc" for who in ("x", "y", "z")]
    write_records(tmp_path / "j.jsonl", rows, Judgment)
    ran = deadpan("agree", tmp_path / "j.jsonl", "--out", tmp_path / "labels.jsonl")
    assert ran.status == 0
    assert "undefined" in ran.out
    assert [label.value for label in read_records(tmp_path / "labels.jsonl", Label)] == ["yes"] * 3


def test_a_page_is_for_scored_tables_and_never_silently_left_out(deadpan, tmp_path, gold):
    write_predictions(tmp_path / "p.jsonl", [Prediction(e.id, e.label, 0.5) for e in gold])
    ran = deadpan("score", tmp_path / "gold.jsonl", tmp_path / "p.jsonl", "--out", tmp_path / "page")
    assert ran.status == 2 and "detect predict TABLE --out" in ran.err
    assert not (tmp_path / "page").exists()
    ran = deadpan("score", "starter-en", tmp_path / "p.jsonl", "--out", tmp_path / "page")
    assert ran.status == 2 and "starter-en: not a scored table" in ran.err and "without --out" in ran.err


def test_a_page_leaves_the_files_of_others_alone(deadpan, tmp_path):
    (tmp_path / "s.csv").write_text("text,label,predicted_label,predicted_score\na,1,sarcastic,0.9\nb,0,sincere,0.1\n")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "notes.txt").write_text("mine")
    assert deadpan("score", tmp_path / "s.csv", "--out", tmp_path / "page").status == 0
    assert "notes.txt" not in read_manifest(tmp_path / "page").files
    (tmp_path / "page" / "manifest.json").write_text('{"name": "an app"}')
    ran = deadpan("score", tmp_path / "s.csv", "--out", tmp_path / "page")
    assert ran.status == 2 and "not a manifest of deadpan: choose another --out" in ran.err
    assert (tmp_path / "page" / "manifest.json").read_text() == '{"name": "an app"}'


def test_a_corpus_alone_is_told_to_bring_predictions(deadpan, tmp_path, gold):
    ran = deadpan("score", tmp_path / "gold.jsonl")
    assert ran.status == 2
    assert f"name predictions for it, without --out: deadpan score {tmp_path / 'gold.jsonl'}" in ran.err


def test_predictions_in_a_table_are_scored_alike(deadpan, tmp_path, gold):
    predictions = [Prediction(e.id, at % 3 == 0, 0.5 + 0.4 * (at % 3 == 0)) for at, e in enumerate(gold)]
    for name in ("p.jsonl", "p.csv", "p.tsv", "p.parquet"):
        write_predictions(tmp_path / name, predictions)
    scored = [
        deadpan("score", tmp_path / "gold.jsonl", tmp_path / name, "--json").json
        for name in ("p.jsonl", "p.csv", "p.tsv", "p.parquet")
    ]
    assert scored[0] == scored[1] == scored[2] == scored[3]


def test_a_table_goes_in_and_comes_out_scored(deadpan, tmp_path):
    """The path of a newcomer: a table of tweets, its scored copy, and how good the scores are."""
    rows = ["Great, another Monday.;1", "The meeting is at noon.;0", "Oh sure, I love waiting;1", "It rains;0"]
    (tmp_path / "mine.csv").write_text("id;tweet;irony\n" + "".join(f"{n};{r}\n" for n, r in enumerate(rows)))
    ran = deadpan(
        "detect", "predict", tmp_path / "mine.csv", "--column", "text=tweet", "--out", tmp_path / "s.xlsx", "--reason"
    )
    assert ran.status == 0 and "4 rows written" in ran.out
    told = deadpan("score", tmp_path / "s.xlsx", "--column", "text=tweet", "--json").json
    assert told["systems"]["s"]["n"] == 4
    assert "confusion" in deadpan("score", tmp_path / "s.xlsx", "--out", tmp_path / "page").out
    assert (tmp_path / "page" / "roc.svg").exists()
    ran = deadpan("score", tmp_path / "mine.csv")
    assert ran.status == 2 and "detect predict TABLE --out" in ran.err
    ran = deadpan("detect", "predict", tmp_path / "mine.csv", "--reason")
    assert ran.status == 2 and "name a table and --out" in ran.err


def test_agreement_of_a_spreadsheet(deadpan, tmp_path):
    (tmp_path / "j.csv").write_text("item,anna,ben\n1,yes,yes\n2,no,no\n3,yes,no\n4,no,no\n")
    told = deadpan("agree", tmp_path / "j.csv", "--json").json
    assert (told["items"], told["raters"]) == (4, 2)


def test_a_corpus_written_as_csv_reads_back_as_the_same_examples(deadpan, tmp_path, gold):
    for name in ("ko.csv", "ko.xlsx"):
        assert deadpan("datasets", "convert", "starter-ko", "--out", tmp_path / name).status == 0
        again = read_dataset(tmp_path / name).examples
        assert [(e.id, e.response, e.context, e.label, e.sequence) for e in again] == [
            (e.id, e.response, e.context, e.label, e.sequence) for e in gold
        ]
