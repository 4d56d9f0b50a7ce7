"""Dumps become a corpus, a reader opens it, a detector learns from it, its predictions are scored."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def test_from_dumps_to_scores(program, built):
    data = built.folder / "corpus" / "main"
    found = program.json("datasets", "stats", "sarc-main", "--data-dir", data)
    assert "train" in str(found)
    trained = program.json("detect", "train", "sarc-main", "--data-dir", data, "--system", "bigrams",
                           "--split", "train", "--out", "model")  # fmt: skip
    assert trained["examples"] > 0
    program("datasets", "convert", "sarc-main", "--data-dir", data, "--split", "test", "--out", "test.jsonl")
    program("detect", "predict", "test.jsonl", "--detector", "model", "--out", "predictions.jsonl")
    scored = program.json("score", "test.jsonl", "predictions.jsonl")
    table = scored["systems"]["predictions"]
    assert table["scores"]["pair_accuracy"]["value"] is not None
    evaluated = program.json("detect", "evaluate", "sarc-main", "--data-dir", data, "--detector", "model",
                             "--split", "test")  # fmt: skip
    assert evaluated["scores"]["pair_accuracy"]["n"] <= table["scores"]["pair_accuracy"]["n"]


def test_predictions_of_two_systems_are_compared(program):
    for system in ("bigrams", "cues"):
        program("detect", "train", "starter-en", "--system", system, "--out", system)
        program("detect", "predict", "starter-en", "--detector", system, "--out", f"{system}.jsonl")
    scored = program.json("score", "starter-en", "bigrams.jsonl", "cues.jsonl")
    assert set(scored["systems"]) == {"bigrams", "cues"}
    assert len(scored["comparisons"]) == 1
