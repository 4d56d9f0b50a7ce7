"""deadpan score and deadpan agree."""

from __future__ import annotations

import pytest

from deadpan.datasets import read_dataset
from deadpan.records import Example, Judgment, Label, Prediction
from deadpan.storage import read_records, write_records


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
    rows = [
        Judgment(item, who, "q", "yes", 1.0, "2026-01-01T00:00:00Z")
        for item in "abc"
        for who in ("x", "y", "z")
    ]
    write_records(tmp_path / "j.jsonl", rows, Judgment)
    ran = deadpan("agree", tmp_path / "j.jsonl", "--labels", tmp_path / "labels.jsonl")
    assert ran.status == 0
    assert "undefined" in ran.out
    assert [label.value for label in read_records(tmp_path / "labels.jsonl", Label)] == ["yes"] * 3
