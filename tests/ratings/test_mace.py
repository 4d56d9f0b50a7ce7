"""MACE: right where answers are sparse and some annotators answer by habit."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import DeadpanError
from deadpan.ratings import dawid_skene, mace, ratings_from_matrix


def votes(seed: int, *, raters: int = 50, n: int = 400, each: int = 3, by_habit: float = 0.3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    habitual, habit = rng.random(raters) < by_habit, rng.random(raters)
    skill = rng.uniform(0.7, 0.95, raters)
    matrix = [[None] * raters for _ in range(n)]
    for i in range(n):
        for r in rng.choice(raters, each, replace=False):
            says = rng.random() < habit[r] if habitual[r] else bool(truth[i]) == (rng.random() < skill[r])
            matrix[i][r] = "yes" if says else "no"
    return truth, habitual, ratings_from_matrix(matrix)


def right(truth, labels) -> float:
    return float(
        np.mean(
            [
                (label.distribution.get("yes", 0) > 0.5) == bool(t)
                for label, t in zip(labels, truth, strict=True)
            ]
        )
    )


def test_sparse_votes_are_read_better_than_by_tables_per_annotator():
    gains = []
    for seed in range(6):
        truth, _, ratings = votes(seed)
        gains.append(right(truth, mace(ratings).labels) - right(truth, dawid_skene(ratings).labels))
    assert np.mean(gains) > 0


def test_habit_is_told_from_competence():
    _, habitual, ratings = votes(1, raters=20, each=6)
    competence = np.array(list(mace(ratings).competence.values()))
    assert competence[~habitual].mean() > competence[habitual].mean() + 0.2


def test_one_answer_for_all_and_none_at_all():
    ratings = ratings_from_matrix([["yes", "yes"], ["yes", "yes"], ["no", "no"]])
    assert [label.value for label in mace(ratings).labels] == ["yes", "yes", "no"]
    with pytest.raises(DeadpanError):
        mace(ratings_from_matrix([[None, None]]))
