"""The alternative annotator test: a model as good as people passes, a worse one does not."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from deadpan.errors import DeadpanError
from deadpan.ratings import alternative_test, ratings_from_matrix
from deadpan.ratings.alternative import _benjamini_yekutieli
from deadpan.ratings.report import report_agreement


def answers(n: int, rights: list[float], seed: int, words: tuple[str, ...] = ("yes", "no")) -> list[list[str]]:
    """Return rows of answers; rater r gives the true answer with probability rights[r]."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        truth = draw.choice(words)
        others = [word for word in words if word != truth]
        rows.append([truth if draw.random() < right else draw.choice(others) for right in rights])
    return rows


def outcome(n: int, people: list[float], model: float, seed: int = 0, **options):
    rows = answers(n, [*people, model], seed)
    candidate = {str(at): row[-1] for at, row in enumerate(rows)}
    return alternative_test(ratings_from_matrix([row[:-1] for row in rows]), candidate, resamples=200, **options)


def test_a_model_like_the_people_passes_and_a_bad_one_does_not() -> None:
    good = outcome(200, [0.8, 0.8, 0.8], 0.9)
    assert good.passes
    assert good.winning_rate.value == 1
    assert good.advantage.low > 0.7
    bad = outcome(200, [0.9, 0.9, 0.9], 0.5)
    assert not bad.passes
    assert bad.winning_rate.value == 0
    assert bad.winning_rate.high < 0.5


def test_a_model_worse_by_epsilon_wins_in_at_most_one_of_twenty() -> None:
    # With epsilon 0 and a model exactly as good as the people, each win is a false one.
    wins = [one.won for seed in range(60) for one in outcome(60, [0.8] * 3, 0.8, seed, epsilon=0.0).people]
    assert np.mean(wins) <= 0.05


def test_few_items_are_not_enough_and_the_number_needed_is_named() -> None:
    few = outcome(12, [0.8, 0.8, 0.8], 0.8)
    assert "fewer than 30 items" in str(few)
    assert all(one.won or one.enough is None or one.enough >= 30 for one in few.people)


def test_the_adjustment_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.array([0.001, 0.2, 0.03, 0.04, 0.9])
    assert _benjamini_yekutieli(p) == pytest.approx(multipletests(p, method="fdr_by")[1])


def test_a_table_and_a_scale_of_words(tmp_path: Path) -> None:
    rows = answers(60, [0.8, 0.8, 0.8, 0.9], 3, ("low", "mid", "high"))
    people = "\n".join(f"i{at},{r[0]},{r[1]},{r[2]}" for at, r in enumerate(rows))
    (tmp_path / "people.csv").write_text(f"item,ann,bob,cy\n{people}\n", encoding="utf-8")
    lines = [json.dumps({"item": f"i{at}", "answer": row[3]}) for at, row in enumerate(rows)]
    (tmp_path / "model.jsonl").write_text("\n".join(lines), encoding="utf-8")
    order = ["low", "mid", "high"]
    report = report_agreement(
        tmp_path / "people.csv", metric="ordinal", order=order, candidate=tmp_path / "model.jsonl"
    )
    assert report.alternative is not None
    assert report.alternative.passes
    assert report.agreement["alpha"].value > 0.3
    assert report.as_dict()["alternative"]["passes"]
    with pytest.raises(DeadpanError, match="order"):
        report_agreement(tmp_path / "people.csv", metric="ordinal")
    with pytest.raises(DeadpanError, match="not among the categories"):
        report_agreement(tmp_path / "people.csv", metric="ordinal", order=["low", "high"])


def test_bad_input_names_the_cure() -> None:
    with pytest.raises(DeadpanError, match="needs 3 people"):
        alternative_test({"a": ["x", "y"], "b": ["x", "y"]}, {"0": "x"})
    three = {"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "x"]}
    with pytest.raises(DeadpanError, match="ids the same"):
        alternative_test(three, {"other": "x"})
    with pytest.raises(DeadpanError, match="no answer of the model"):
        alternative_test(three, {"0": "sarcastic", "1": "not"})
