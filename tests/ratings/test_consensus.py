"""Labels from several answers: majority and Dawid-Skene."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from deadpan import ratings as ag
from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment


def judgment(item: str, annotator: str, answer: str, at: str = "2024-05-01T10:00:00", question: str = "q") -> Judgment:
    return Judgment(item, annotator, question, answer, 3.0, at)


def test_majority_and_its_tie() -> None:
    rows = [judgment("one", name, answer) for name, answer in zip("abc", ["yes", "no", "yes"], strict=True)]
    rows += [judgment("two", "a", "yes"), judgment("two", "b", "no"), judgment("three", "a", "")]
    labels = {label.item_id: label for label in ag.majority(ag.ratings_from_judgments(rows))}
    assert (labels["one"].value, labels["one"].method, labels["one"].n) == ("yes", "majority", 3)
    assert labels["one"].distribution == pytest.approx({"yes": 2 / 3, "no": 1 / 3})
    assert (labels["two"].value, labels["two"].method) == (None, "majority: tie")
    assert (labels["three"].value, labels["three"].n, labels["three"].method) == (None, 0, "majority: no answer")
    assert labels["two"].question == "q"


def simulated(items: int, skills: Sequence[float], seed: int = 0) -> tuple[list[str], list[list[str | None]]]:
    """True answers, and what annotators of these skills said, a fifth of it missing."""
    rng = random.Random(seed)
    truth = [rng.choice(["no", "yes"]) for _ in range(items)]
    other = {"no": "yes", "yes": "no"}
    rows: list[list[str | None]] = [
        [(answer if rng.random() < skill else other[answer]) if rng.random() > 0.2 else None for skill in skills]
        for answer in truth
    ]
    return truth, rows


def test_dawid_skene_finds_who_is_good_and_beats_the_majority() -> None:
    skills = [0.95, 0.9, 0.55, 0.55, 0.5]
    truth, rows = simulated(400, skills)
    ratings = ag.ratings_from_matrix(rows)
    found = ag.dawid_skene(ratings)
    assert found.converged
    for annotator, skill in zip(found.annotators, skills, strict=True):
        assert annotator.accuracy == pytest.approx(skill, abs=0.07)
    right = sum(label.value == answer for label, answer in zip(found.labels, truth, strict=True))
    by_vote = sum(label.value == answer for label, answer in zip(ag.majority(ratings), truth, strict=True))
    assert right > by_vote + 40
    for label in found.labels:
        if label.n:
            assert sum(label.distribution.values()) == pytest.approx(1)
    assert ag.dawid_skene(ratings) == found


def test_dawid_skene_is_a_fixed_point_of_the_model() -> None:
    _, rows = simulated(60, [0.9, 0.8, 0.7], seed=3)
    ratings = ag.ratings_from_matrix(rows)
    found = ag.dawid_skene(ratings, max_iterations=2000, tolerance=1e-10)
    assert found.converged
    confusion = [annotator.confusion for annotator in found.annotators]
    for row, label in zip(rows, found.labels, strict=True):
        if not label.n:
            continue
        joint = {truth: found.prevalence[truth] for truth in ratings.categories}
        for rater, answer in enumerate(row):
            for truth in joint:
                joint[truth] *= 1.0 if answer is None else confusion[rater][truth][answer]
        for truth, weight in joint.items():
            assert label.distribution[truth] == pytest.approx(weight / sum(joint.values()), abs=1e-6)


def test_dawid_skene_of_hundreds_of_raters_does_not_vanish() -> None:
    _, rows = simulated(6, [0.7] * 3000)
    found = ag.dawid_skene(ag.ratings_from_matrix(rows))
    assert all(label.value in ("no", "yes") for label in found.labels)


def test_dawid_skene_on_little() -> None:
    tie = ag.dawid_skene(ag.ratings_from_matrix([["no", "yes"], ["yes", "no"]]))
    assert [(label.value, label.method) for label in tie.labels] == [(None, "dawid-skene: tie")] * 2
    same = ag.dawid_skene(ag.ratings_from_matrix([["yes", "yes"], ["yes", None]]))
    assert [label.value for label in same.labels] == ["yes", "yes"] and same.converged
    assert not ag.dawid_skene(ag.ratings_from_matrix(simulated(50, [0.6] * 4)[1]), max_iterations=1).converged
    for rows in ([], [[None, None]]):
        with pytest.raises(DataError, match="at least one answer"):
            ag.dawid_skene(ag.ratings_from_matrix(rows))
    with pytest.raises(ConfigError, match="at least 1: got 0"):
        ag.dawid_skene(ag.ratings_from_matrix([["a"]]), max_iterations=0)


def test_match_with_the_majority_leaves_the_annotator_out() -> None:
    rows = [
        ["a", "a", "a", "b"],
        ["a", "a", "b", "b"],
        ["b", "b", "b", "a"],
        ["a", None, None, None],
        [None, "a", "b", None],
    ]
    first, second, third, fourth = ag.match_majority(ag.ratings_from_matrix(rows))
    # Row two: without the first, b has the majority; counting their own answer it would be a tie.
    assert (first.share.value, first.share.n, first.n_unmatched) == (pytest.approx(2 / 3), 3, 1)
    assert (second.share.value, second.share.n) == (pytest.approx(2 / 4), 4)
    assert (third.share.value, third.share.n) == (pytest.approx(2 / 4), 4)
    assert (fourth.share.value, fourth.share.n) == (0.0, 3)
    assert first.share.low is not None and first.share.low < 2 / 3


def test_others_who_are_tied_are_no_majority_even_beside_a_rarer_answer() -> None:
    rows = [["a", "a", "a", "b", "b", "c"], ["c", "a", "a", "b", "b", "c"]]
    first, *_ = ag.match_majority(ag.ratings_from_matrix(rows))
    assert (first.share.n, first.n_unmatched) == (0, 2)
    clear, *_ = ag.match_majority(ag.ratings_from_matrix([["a", "a", "a", "b", "c"]]))
    assert (clear.share.value, clear.share.n) == (1.0, 1)


def test_a_majority_lists_what_was_answered_only() -> None:
    [label] = ag.majority(ag.ratings_from_matrix([["a", "a", "b"]], categories=["a", "b", "c"]))
    assert label.distribution == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}


def test_match_without_others_or_with_tied_others_is_explained() -> None:
    alone = ag.match_majority(ag.ratings_from_matrix([["a", None], [None, "b"]]))
    assert [(match.share.value, match.n_unmatched) for match in alone] == [(None, 1)] * 2
    assert "the others have a majority" in alone[0].share.why
    tied = ag.match_majority(ag.ratings_from_matrix([["a", "a", "b"]]))
    assert [match.n_unmatched for match in tied] == [1, 1, 0]
    assert ag.match_majority(ag.ratings_from_matrix([])) == []


def test_a_single_answer_is_a_label() -> None:
    [label] = ag.majority(ag.ratings_from_matrix([["a", None]]))
    assert (label.value, label.distribution, label.n) == ("a", {"a": 1.0}, 1)


def test_nobody_else_is_no_majority_where_all_answers_are_the_same() -> None:
    first, second = ag.match_majority(ag.ratings_from_matrix([["a", None], ["a", "a"]]))
    assert (first.share.n, first.n_unmatched) == (1, 1)
    assert (second.share.n, second.n_unmatched) == (1, 0)


def test_one_step_of_dawid_skene_by_hand() -> None:
    """Votes give the labels yes, no and yes for certain; 0.01 is added to every count."""
    rows = [["yes", "yes"], ["no", "no"], ["yes", None]]
    found = ag.dawid_skene(ag.ratings_from_matrix(rows), max_iterations=1)
    assert (found.iterations, found.converged) == (1, False)
    assert found.prevalence == pytest.approx({"yes": 2.01 / 3.02, "no": 1.01 / 3.02})
    first, second = found.annotators
    assert first.confusion["yes"] == pytest.approx({"yes": 2.01 / 2.02, "no": 0.01 / 2.02})
    assert second.confusion["yes"] == pytest.approx({"yes": 1.01 / 1.02, "no": 0.01 / 1.02})
    assert second.confusion["no"] == pytest.approx({"yes": 0.01 / 1.02, "no": 1.01 / 1.02})
    yes, no = 2.01 / 3.02 * 2.01 / 2.02, 1.01 / 3.02 * 0.01 / 1.02
    assert found.labels[2].distribution["yes"] == pytest.approx(yes / (yes + no))


def test_an_item_without_answers_does_not_change_the_model() -> None:
    _, rows = simulated(40, [0.9, 0.8, 0.7], seed=5)
    found = ag.dawid_skene(ag.ratings_from_matrix(rows))
    more = ag.dawid_skene(ag.ratings_from_matrix([*rows, [None] * 3]))
    assert more.prevalence == found.prevalence and more.annotators == found.annotators
    assert more.labels[-1].method == "dawid-skene: no answer"


@pytest.mark.parametrize("tolerance", [0, -1.0, float("nan"), "small"])
def test_a_tolerance_is_above_0(tolerance: object) -> None:
    with pytest.raises(ConfigError, match="tolerance must be above 0"):
        ag.dawid_skene(ag.ratings_from_matrix([["a"]]), tolerance=tolerance)  # type: ignore[arg-type]
