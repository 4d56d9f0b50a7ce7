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
        np.mean([(label.distribution.get("yes", 0) > 0.5) == bool(t) for label, t in zip(labels, truth, strict=True)])
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


def by_loops(matrix, categories, iterations):
    """The model written out answer by answer; returns the posteriors and the competences."""
    n, raters, k = len(matrix), range(len(matrix[0])), len(categories)
    competence = [0.7 for _ in raters]
    habit = [dict.fromkeys(categories, 1 / k) for _ in raters]
    prevalence = dict.fromkeys(categories, 1 / k)
    for _ in range(iterations):
        knew, guesses = [0.0 for _ in raters], [dict.fromkeys(categories, 0.0) for _ in raters]
        posteriors = []
        for row in matrix:
            answers = [(r, answer) for r, answer in enumerate(row) if answer is not None]
            joint = dict(prevalence)
            for truth in categories:
                for r, answer in answers:
                    joint[truth] *= competence[r] * (answer == truth) + (1 - competence[r]) * habit[r][answer]
            posterior = {truth: joint[truth] / sum(joint.values()) for truth in categories}
            posteriors.append(posterior)
            for r, answer in answers:
                by_habit = (1 - competence[r]) * habit[r][answer]
                known = posterior[answer] * competence[r] / (competence[r] + by_habit)
                knew[r] += known
                guesses[r][answer] += 1 - known
        competence = [(knew[r] + 0.5) / (knew[r] + sum(guesses[r].values()) + 1.0) for r in raters]
        for r in raters:
            whole = sum(guesses[r].values()) + k * 10 / n
            habit[r] = {answer: (guesses[r][answer] + 10 / n) / whole for answer in categories}
        total = n + k * 0.5
        prevalence = {t: (sum(p[t] for p in posteriors) + 0.5) / total for t in categories}
    return posteriors, competence


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_every_step_is_that_of_the_model_written_out(iterations):
    matrix = [["a", "a", "b"], ["b", None, "b"], ["a", "c", "b"], ["c", "c", None], [None, None, "b"]]
    found = mace(ratings_from_matrix(matrix), iterations=iterations)
    posteriors, competence = by_loops(matrix, "abc", iterations)
    for label, posterior in zip(found.labels, posteriors, strict=True):
        assert label.distribution == pytest.approx(posterior)
    assert list(found.competence.values()) == pytest.approx(competence)
    assert found.iterations == iterations


def test_thousands_of_annotators_do_not_vanish():
    truth, _, ratings = votes(0, raters=3000, n=6, each=3000, by_habit=0)
    assert right(truth, mace(ratings).labels) == 1.0


def test_annotators_are_listed_by_competence():
    rows = [["yes", "yes", "no"], ["no", "no", "yes"], ["yes", "yes", "yes"], ["no", "no", "yes"]]
    found = mace(ratings_from_matrix(rows))
    names = list(found.competence)
    text = found.summary().text()
    assert text.index(names[0]) < text.index(names[2]) and "4 labels" in text
    assert found.competence[names[0]] > found.competence[names[2]]
    with pytest.raises(DeadpanError, match="at least 1: got 0"):
        mace(ratings_from_matrix(rows), iterations=0)
