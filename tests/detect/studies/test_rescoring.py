"""Rescoring shows the score that duplicates bought, and nothing where there are none."""

from __future__ import annotations

import random

import pytest

from deadpan.detect.studies import rescoring
from deadpan.detect.studies.rescoring import rescore, rescorer
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn


def noise(n: int, copies: int) -> list[Example]:
    """Texts without any tone, each `copies` times with the same random label."""
    rng = random.Random(0)
    rows = []
    for i in range(n):
        text = " ".join(f"w{rng.randrange(400)}" for _ in range(12))
        label = rng.random() < 0.5
        rows += [Example(f"{i}-{k}", Turn("", text), label=label) for k in range(copies)]
    return rows


def test_copies_buy_a_score_that_cleaning_takes_away():
    raw = noise(120, 3)
    result = rescore(raw, [e for e in raw if e.id.endswith("-0")], ["bow"])
    before, after = (side["bow"]["balanced_accuracy"].value for side in (result.before, result.after))
    assert before > 0.8
    assert after < 0.65
    assert result.removed == 240
    assert "cleaned" in result.summary().text()


def test_nothing_changes_much_without_copies():
    raw = noise(200, 1)
    result = rescore(raw, raw, ["bow"])
    before, after = (side["bow"]["balanced_accuracy"].value for side in (result.before, result.after))
    assert abs(before - after) < 0.15
    assert result.as_dict()["removed"] == 0


def test_a_sample_keeps_copies_together_and_a_second_start_trains_nothing(tmp_path, monkeypatch):
    raw = noise(200, 3)
    cleaned = [e for e in raw if e.id.endswith("-0")]
    run = rescorer(["bow"], sample=300, keep=tmp_path / "out")
    result = run(raw, cleaned, {})
    before, after = (side["bow"]["auc"].value for side in (result.before, result.after))
    assert before > 0.8 > after
    assert "300 of 600 rows" in result.design
    monkeypatch.setattr(rescoring, "run_trial", None)
    assert run(raw, cleaned, {}) == result


def test_a_variant_of_a_system_is_a_system():
    assert rescorer(["frozen:minilm-l6"]) is not None
    with pytest.raises(DeadpanError, match="did you mean 'frozen'"):
        rescorer(["frzen:minilm-l6"])


def test_systems_must_be_named():
    with pytest.raises(DeadpanError, match="no systems to score"):
        rescore(noise(10, 1), noise(10, 1), [])
