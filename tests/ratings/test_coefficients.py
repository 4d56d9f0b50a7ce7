"""Agreement against published values, scikit-learn and statsmodels; labels from several answers."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from deadpan import ratings as ag
from deadpan.errors import ConfigError
from deadpan.stats import Interval, wilson

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


def from_counts(rows: Sequence[Sequence[int]]) -> ag.Ratings:
    return ag.ratings_from_matrix(
        [[category for category, count in enumerate(row) for _ in range(count)] for row in rows]
    )


def test_cohen_of_the_textbook_table_is_0_40() -> None:
    rows = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert ag.cohen_kappa(ag.ratings_from_matrix(rows)).value == pytest.approx(0.40)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_intervals_are_those_of_seed_0(coefficient: Callable[..., Interval]) -> None:
    ratings = ag.ratings_from_matrix(FOUR_OBSERVERS)
    assert coefficient(ratings) == coefficient(ratings, seed=0) != coefficient(ratings, seed=1)


def test_the_defaults_of_cohen_and_of_all_coefficients_are_the_same() -> None:
    two = ag.ratings_from_matrix([row[2:] for row in FOUR_OBSERVERS])
    together = ag.agreement(two)
    assert ag.cohen_kappa(two) == together["cohen"]
    assert list(together.values()) == [coefficient(two) for coefficient in COEFFICIENTS]


def test_gwet_of_three_categories_by_hand() -> None:
    rows = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")]
    chance = (3 / 8 * 5 / 8 + 3 / 8 * 5 / 8 + 1 / 4 * 3 / 4) / 2
    found = ag.gwet_ac1(ag.ratings_from_matrix(rows))
    assert found.value == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_a_ratio_has_a_zero_but_nothing_below_it() -> None:
    assert ag.krippendorff_alpha(ag.ratings_from_matrix([[0, 0], [1, 2], [0.5, 0.5]]), "ratio").value is not None
    with pytest.raises(ConfigError):
        ag.krippendorff_alpha(ag.ratings_from_matrix([[-0.5, -0.5], [1, 2]]), "ratio")


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
    assert ag.gwet_ac1(ratings, singles=True).value == pytest.approx(0.77544, abs=5e-6)
    assert ag.fleiss_kappa(ratings, singles=True).value == pytest.approx(0.76117, abs=5e-6)


def test_items_with_one_answer_count_for_chance_on_request_only() -> None:
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]]
    alone = [["a", None]] * 5
    twice, mixed = ag.ratings_from_matrix(rows), ag.ratings_from_matrix(rows + alone)
    for coefficient in (ag.fleiss_kappa, ag.gwet_ac1):
        assert coefficient(mixed).value == coefficient(twice).value
        assert coefficient(mixed, singles=True).value != coefficient(twice).value
        assert coefficient(mixed).n == 4
    assert "4 items with two answers" in str(ag.agreement(mixed))


def test_a_kappa_of_zero_has_a_narrow_interval_around_it() -> None:
    rows = [["yes", "yes" if at % 4 else "no"] for at in range(60)]
    kappa = ag.cohen_kappa(ag.ratings_from_matrix(rows))
    assert kappa.value == 0
    assert -0.6 < kappa.low < 0 < kappa.high < 0.6


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
    rows = np.where(rng.random((60, 3)) < 0.5, rng.integers(0, 3, size=(60, 1)), rng.integers(0, 3, size=(60, 3)))
    ratings = ag.ratings_from_matrix(rows.tolist())
    assert ag.fleiss_kappa(ratings).value == pytest.approx(statsmodels_fleiss(aggregate_raters(rows)[0]))
    pairs = [cohen_kappa_score(rows[:, a], rows[:, b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert ag.mean_cohen_kappa(ratings).value == pytest.approx(sum(pairs) / 3)


@given(matrices, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_coefficients_hold_their_value_and_ignore_order(rows: list[list[str | None]], shuffler: random.Random) -> None:
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
    assert found["ac1"].value is None and "AC1 needs the categories" in found["ac1"].why
    assert ag.gwet_ac1(ag.ratings_from_matrix(rows, categories=["no", "yes"])).value == 1.0


def test_nothing_in_common_is_explained() -> None:
    for rows in ([], [["a", None], [None, "b"]], [[None, None]]):
        for score in ag.agreement(ag.ratings_from_matrix(rows)).values():
            assert score.value is None and score.why and score.n == 0
    assert "there are 3" in ag.cohen_kappa(ag.ratings_from_matrix([["a", "b", "a"]])).why
    one = ag.fleiss_kappa(ag.ratings_from_matrix([["a", "b"]]))
    assert one.value == -1.0 and one.low is None and one.why == "one cluster only: no interval"


def test_pairs_of_raters_without_a_kappa_are_left_out_and_said() -> None:
    rows = [["a", "a", None], ["b", "b", None], ["a", "b", "a"], ["b", "a", "b"], ["a", None, "a"]]
    both = ag.mean_cohen_kappa(ag.ratings_from_matrix([row[:2] for row in rows[:2]] + [["a", "b"], ["b", "a"]]))
    assert both.value == 0.0
    sparse = ag.mean_cohen_kappa(ag.ratings_from_matrix([["a", "a", None], ["b", "b", None], ["a", None, "a"]]))
    assert sparse.value == 1.0
    assert "2 of 3 pairs of raters excluded" in sparse.why


def test_order_must_be_known_where_it_counts() -> None:
    words = [["no", "maybe"], ["yes", "yes"], ["no", "no"]]
    with pytest.raises(ConfigError, match="pass the categories in order"):
        ag.krippendorff_alpha(ag.ratings_from_matrix(words), "ordinal")
    with pytest.raises(ConfigError, match="pass the categories in order"):
        ag.cohen_kappa(ag.ratings_from_matrix(words), "linear")
    ordered = ag.ratings_from_matrix(words, categories=["no", "maybe", "yes"])
    numbers = ag.ratings_from_matrix([[1, 2], [10, 10], [1, 1]])
    assert ag.cohen_kappa(ordered, "linear").value == ag.cohen_kappa(numbers, "linear").value
    assert numbers.categories == ("1", "2", "10")
    with pytest.raises(ConfigError, match="'no' is not"):
        ag.krippendorff_alpha(ordered, "interval")
    with pytest.raises(ConfigError, match="at least 0: got -1"):
        ag.krippendorff_alpha(ag.ratings_from_matrix([[-1, 2]]), "ratio")
    with pytest.raises(ConfigError, match="choose from nominal"):
        ag.krippendorff_alpha(ordered, "cardinal")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="choose from none"):
        ag.cohen_kappa(ordered, "cubic")  # type: ignore[arg-type]


def test_the_package_does_not_hide_the_function_of_the_public_api() -> None:
    script = (
        "import deadpan.ratings, deadpan.ratings.coefficients\n"
        "from deadpan import agreement, Ratings\n"
        "from deadpan.ratings import ratings_from_matrix\n"
        "ratings = ratings_from_matrix([['a', 'a'], ['b', 'b']])\n"
        "assert isinstance(ratings, Ratings)\n"
        "print(agreement(ratings)['raw'].value)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "1.0"


def test_raters_who_always_agree_have_intervals_all_the_same() -> None:
    """Resampling shows no spread; the interval is Wilson's of raw agreement, corrected for chance."""
    answers = ["yes", "no"] * 20
    found = ag.agreement({"ann": answers, "bob": answers}, resamples=50)
    least = wilson(40, 40).low or 0.0
    assert (found["raw"].low, found["raw"].high) == pytest.approx((least, 1.0))
    for name in ("cohen", "fleiss", "alpha", "ac1"):
        assert found[name].low == pytest.approx(1 - 2 * (1 - least)), name
    rare = ["yes"] * 39 + ["no"]
    skewed = ag.agreement({"ann": rare, "bob": rare}, resamples=50)
    assert -1 <= (skewed["fleiss"].low or 0) < 0 < (skewed["ac1"].low or 0), "a kappa of rare answers says little"


def test_perfect_agreement_on_three_answers_has_the_interval_of_their_chance() -> None:
    answers = ["yes", "no", "maybe"] * 10
    found = ag.agreement({"ann": answers, "bob": answers}, resamples=50)
    missed = 1 - (wilson(30, 30).low or 0.0)
    for name in ("cohen", "fleiss", "alpha", "ac1"):
        assert found[name].low == pytest.approx(1 - missed / (1 - 1 / 3)), name


def test_no_interval_of_perfect_agreement_goes_below_minus_1() -> None:
    """Of 402 answers two differ, so the correction for chance would make it -7.6."""
    rows = [["yes"] * 10] * 40 + [["no", "no"] + [None] * 8]
    found = ag.agreement(ag.ratings_from_matrix(rows), resamples=50)
    assert (found["fleiss"].value, found["fleiss"].low) == (1.0, -1.0)
    assert found["alpha"].low == -1.0


def test_no_interval_of_a_kappa_of_zero_goes_below_minus_1() -> None:
    kappa = ag.cohen_kappa(ag.ratings_from_matrix([["1", "1"], ["0", "1"]]))
    assert (kappa.value, kappa.low, kappa.high) == (0.0, -1.0, 1.0)
