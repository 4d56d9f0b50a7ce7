"""Agreement against published values, scikit-learn and statsmodels; labels from several answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from deadpan import agreement as ag
from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment
from deadpan.stats import Interval

# Krippendorff's example with four observers, twelve units and missing answers; a row is a unit.
FOUR_OBSERVERS = [
    [1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None],
]  # fmt: skip
# The worked example of Fleiss' kappa: fourteen raters, ten subjects, five categories.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip

matrices = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([None, "no", "maybe", "yes"]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=15,
    )
)
COEFFICIENTS: list[Callable[..., Interval]] = [
    ag.raw_agreement,
    ag.mean_cohen_kappa,
    ag.fleiss_kappa,
    ag.krippendorff_alpha,
    ag.gwet_ac1,
]


def judgment(
    item: str, annotator: str, answer: str, at: str = "2024-05-01T10:00:00", question: str = "q"
) -> Judgment:
    return Judgment(item, annotator, question, answer, 3.0, at)


def from_counts(rows: Sequence[Sequence[int]]) -> ag.Ratings:
    return ag.ratings_from_matrix(
        [[category for category, count in enumerate(row) for _ in range(count)] for row in rows]
    )


def test_cohen_of_the_textbook_table_is_0_40() -> None:
    rows = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert ag.cohen_kappa(ag.ratings_from_matrix(rows)).value == pytest.approx(0.40)


def test_fleiss_of_the_worked_example_is_0_2099() -> None:
    found = ag.fleiss_kappa(from_counts(FLEISS))
    assert found.value == pytest.approx(0.2099, abs=5e-5)
    assert found.low is not None and found.high is not None and found.low < 0.2099 < found.high


@pytest.mark.parametrize(
    ("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_the_standard_example(metric: str, alpha: float) -> None:
    found = ag.krippendorff_alpha(ag.ratings_from_matrix(FOUR_OBSERVERS), metric)  # type: ignore[arg-type]
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11


def test_unequal_raters_give_what_irrcac_documents() -> None:
    ratings = ag.ratings_from_matrix(FOUR_OBSERVERS)
    assert ag.raw_agreement(ratings).value == pytest.approx(0.8181818, abs=1e-7)
    assert ag.gwet_ac1(ratings).value == pytest.approx(0.77544, abs=5e-6)
    assert ag.fleiss_kappa(ratings).value == pytest.approx(0.76117, abs=5e-6)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohen_is_that_of_scikit_learn(weights: str) -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(1, 5, size=80)
    other = np.where(rng.random(80) < 0.6, one, rng.integers(1, 5, size=80))
    rows = [*zip(one.tolist(), other.tolist(), strict=True), (3, None), (None, 1)]
    wanted = cohen_kappa_score(one, other, weights=None if weights == "none" else weights)
    found = ag.cohen_kappa(ag.ratings_from_matrix(rows), weights)  # type: ignore[arg-type]
    assert found.value == pytest.approx(wanted)
    assert found.n == 80


def test_fleiss_and_mean_cohen_with_equal_raters_are_those_of_the_libraries() -> None:
    rng = np.random.default_rng(1)
    rows = np.where(
        rng.random((60, 3)) < 0.5, rng.integers(0, 3, size=(60, 1)), rng.integers(0, 3, size=(60, 3))
    )
    ratings = ag.ratings_from_matrix(rows.tolist())
    assert ag.fleiss_kappa(ratings).value == pytest.approx(statsmodels_fleiss(aggregate_raters(rows)[0]))
    pairs = [cohen_kappa_score(rows[:, a], rows[:, b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert ag.mean_cohen_kappa(ratings).value == pytest.approx(sum(pairs) / 3)


@given(matrices, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_coefficients_hold_their_value_and_ignore_order(
    rows: list[list[str | None]], shuffler: random.Random
) -> None:
    shuffled = rows.copy()
    shuffler.shuffle(shuffled)
    for coefficient in COEFFICIENTS:
        found = coefficient(ag.ratings_from_matrix(rows), resamples=40)
        again = coefficient(ag.ratings_from_matrix(shuffled), resamples=40)
        assert found.why == again.why
        if found.value is None:
            assert found.why and again.value is None
            continue
        assert again.value == pytest.approx(found.value)
        assert found.value <= 1 + 1e-12
        if all(answer is not None for row in rows for answer in row):
            assert found.value >= -1 - 1e-12
        if found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high


def test_perfect_agreement_is_one_throughout() -> None:
    found = ag.agreement(ag.ratings_from_matrix([["a", "a", "a"], ["b", "b", None], ["a", "a", "a"]]))
    assert set(found) == {"raw", "cohen", "fleiss", "alpha", "ac1"}
    assert [score.value for score in found.values()] == pytest.approx([1] * 5)


def test_all_answers_the_same_is_explained() -> None:
    rows = [["yes", "yes"], ["yes", "yes"], ["yes", None]]
    found = ag.agreement(ag.ratings_from_matrix(rows))
    assert found["raw"].value == 1.0
    for name in ("cohen", "fleiss"):
        assert found[name].value is None
        assert found[name].why == "all answers the same: chance agreement is 1, so kappa is undefined"
    assert found["alpha"].value is None and "alpha is undefined" in found["alpha"].why
    assert found["ac1"].value is None and "give the categories" in found["ac1"].why
    assert ag.gwet_ac1(ag.ratings_from_matrix(rows, categories=["no", "yes"])).value == 1.0


def test_nothing_in_common_is_explained() -> None:
    for rows in ([], [["a", None], [None, "b"]], [[None, None]]):
        for score in ag.agreement(ag.ratings_from_matrix(rows)).values():
            assert score.value is None and score.why
    assert "there are 3" in ag.cohen_kappa(ag.ratings_from_matrix([["a", "b", "a"]])).why
    one = ag.fleiss_kappa(ag.ratings_from_matrix([["a", "b"]]))
    assert one.value == -1.0 and one.low is None and one.why == "one cluster only: no interval"


def test_pairs_of_raters_without_a_kappa_are_left_out_and_said() -> None:
    rows = [["a", "a", None], ["b", "b", None], ["a", "b", "a"], ["b", "a", "b"], ["a", None, "a"]]
    both = ag.mean_cohen_kappa(
        ag.ratings_from_matrix([row[:2] for row in rows[:2]] + [["a", "b"], ["b", "a"]])
    )
    assert both.value == 0.0
    sparse = ag.mean_cohen_kappa(
        ag.ratings_from_matrix([["a", "a", None], ["b", "b", None], ["a", None, "a"]])
    )
    assert sparse.value == 1.0
    assert "2 of 3 pairs of raters left out" in sparse.why


def test_order_must_be_known_where_it_counts() -> None:
    words = [["no", "maybe"], ["yes", "yes"], ["no", "no"]]
    with pytest.raises(ConfigError, match="give categories in order"):
        ag.krippendorff_alpha(ag.ratings_from_matrix(words), "ordinal")
    with pytest.raises(ConfigError, match="give categories in order"):
        ag.cohen_kappa(ag.ratings_from_matrix(words), "linear")
    ordered = ag.ratings_from_matrix(words, categories=["no", "maybe", "yes"])
    numbers = ag.ratings_from_matrix([[1, 2], [10, 10], [1, 1]])
    assert ag.cohen_kappa(ordered, "linear").value == ag.cohen_kappa(numbers, "linear").value
    assert numbers.categories == ("1", "2", "10")
    with pytest.raises(ConfigError, match="'no' is not"):
        ag.krippendorff_alpha(ordered, "interval")
    with pytest.raises(ConfigError, match="no negative answers"):
        ag.krippendorff_alpha(ag.ratings_from_matrix([[-1, 2]]), "ratio")
    with pytest.raises(ConfigError, match="choose from nominal"):
        ag.krippendorff_alpha(ordered, "cardinal")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="choose from none"):
        ag.cohen_kappa(ordered, "cubic")  # type: ignore[arg-type]


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(DataError, match="rows have from 1 to 2"):
        ag.ratings_from_matrix([["a"], ["a", "b"]])
    with pytest.raises(DataError, match="use None"):
        ag.ratings_from_matrix([[1.0, float("nan")]])
    with pytest.raises(DataError, match="1 answers are no category, first 'c': the categories are a, b"):
        ag.ratings_from_matrix([["a", "c"]], categories=["a", "b"])
    with pytest.raises(ConfigError, match="categories repeat"):
        ag.ratings_from_matrix([["a", "a"]], categories=["a", "a"])


def test_the_latest_judgment_counts_whatever_the_order_and_time_zone() -> None:
    rows = [
        judgment("i", "ann", "yes", "2024-05-01T10:00:00+00:00"),
        judgment("i", "ann", "no", "2024-05-01T18:30:00+09:00"),
        judgment("i", "bob", "no", "2024-05-01T09:00:00Z"),
        judgment("i", "eve", "no", "2024-05-01T09:00:00Z"),
        judgment("i", "eve", "", "2024-05-01T09:05:00Z"),
    ]
    for order in (rows, rows[::-1]):
        ratings = ag.ratings_from_judgments(order)
        (label,) = ag.majority(ratings)
        assert label.distribution == {"yes": 0.5, "no": 0.5}
        assert label.n == 2
    same_time = [judgment("i", "ann", answer) for answer in ("yes", "no")]
    assert ag.majority(ag.ratings_from_judgments(same_time))[0].value == "no"
    with pytest.raises(DataError, match="of 'ann' on item 'i' is not in ISO form"):
        ag.ratings_from_judgments(
            [judgment("i", "ann", "a", "yesterday"), judgment("i", "ann", "b", "today")]
        )


def test_one_question_at_a_time() -> None:
    rows = [judgment("i", "ann", "yes"), judgment("i", "ann", "5", question="r")]
    with pytest.raises(ConfigError, match="say which, of q, r"):
        ag.ratings_from_judgments(rows)
    assert ag.ratings_from_judgments(rows, "r").categories == ("5",)
    with pytest.raises(ConfigError, match="no judgment of question 'x': there are q, r"):
        ag.ratings_from_judgments(rows, "x")
    assert ag.majority(ag.ratings_from_judgments([])) == []


def test_majority_and_its_tie() -> None:
    rows = [judgment("one", name, answer) for name, answer in zip("abc", ["yes", "no", "yes"], strict=True)]
    rows += [judgment("two", "a", "yes"), judgment("two", "b", "no"), judgment("three", "a", "")]
    labels = {label.item_id: label for label in ag.majority(ag.ratings_from_judgments(rows))}
    assert (labels["one"].value, labels["one"].method, labels["one"].n) == ("yes", "majority", 3)
    assert labels["one"].distribution == pytest.approx({"yes": 2 / 3, "no": 1 / 3})
    assert (labels["two"].value, labels["two"].method) == (None, "majority: tie")
    assert (labels["three"].value, labels["three"].n, labels["three"].method) == (
        None,
        0,
        "majority: no answer",
    )
    assert labels["two"].question == "q"


def simulated(items: int, skills: Sequence[float], seed: int = 0) -> tuple[list[str], list[list[str | None]]]:
    """True answers, and what annotators of these skills said, a fifth of it missing."""
    rng = random.Random(seed)
    truth = [rng.choice(["no", "yes"]) for _ in range(items)]
    other = {"no": "yes", "yes": "no"}
    rows: list[list[str | None]] = [
        [
            (answer if rng.random() < skill else other[answer]) if rng.random() > 0.2 else None
            for skill in skills
        ]
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
    with pytest.raises(ConfigError, match="at least one iteration"):
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


def test_match_without_others_or_with_tied_others_is_explained() -> None:
    alone = ag.match_majority(ag.ratings_from_matrix([["a", None], [None, "b"]]))
    assert [(match.share.value, match.n_unmatched) for match in alone] == [(None, 1)] * 2
    assert "the others have a majority" in alone[0].share.why
    tied = ag.match_majority(ag.ratings_from_matrix([["a", "a", "b"]]))
    assert [match.n_unmatched for match in tied] == [1, 1, 0]
    assert ag.match_majority(ag.ratings_from_matrix([])) == []
