"""Paired tests of two systems against statsmodels, and what several comparisons cost."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn
from deadpan.stats import (
    bootstrap_difference,
    compare_predictions,
    holm,
    mcnemar,
    score_systems,
    wilson,
)
from deadpan.stats.comparison import Comparisons
from deadpan.stats.interval import IntArray


def examples(n: int, group_size: int = 1) -> list[Example]:
    return [
        Example(id=str(at), response=Turn("", "sure"), label=at % 2 == 0, group=f"g{at // group_size}")
        for at in range(n)
    ]


def system(of: list[Example], share_right: float, seed: int) -> list[Prediction]:
    rng = random.Random(seed)
    return [Prediction(e.id, bool(e.label) == (rng.random() < share_right)) for e in of]


@given(st.integers(0, 80), st.integers(0, 80))
@settings(deadline=None, max_examples=60)
def test_mcnemar_is_that_of_statsmodels(only_first: int, only_second: int) -> None:
    found = mcnemar(only_first, only_second)
    n = only_first + only_second
    if n == 0:
        assert found.p == 1.0 and found.method.startswith("none")
        return
    table = [[10, only_first], [only_second, 10]]
    if found.method == "exact binomial":
        assert n < 25
        assert found.p == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)
    else:
        assert n >= 25 and found.method == "chi-square, continuity corrected"
        if only_first != only_second:
            # statsmodels lets the correction overshoot when the counts are equal; ours stops at 0.
            wanted = statsmodels_mcnemar(table, exact=False, correction=True).pvalue
            assert found.p == pytest.approx(wanted)
        else:
            assert found.p == 1.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least 0: got -1"):
        mcnemar(-1, 3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None, max_examples=6)
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == []


def test_a_better_system_is_found_and_an_equal_one_is_not() -> None:
    data = examples(400)
    good, same, bad = (system(data, share, seed) for share, seed in [(0.9, 1), (0.9, 2), (0.7, 3)])
    rows = compare_predictions(data, {"good": good, "same": same, "bad": bad})
    assert [(row.first, row.second) for row in rows] == [("good", "same"), ("good", "bad"), ("same", "bad")]
    equal, better, _ = rows
    assert equal.p is not None and equal.p > 0.05
    assert better.difference.value is not None and better.difference.low is not None
    assert better.difference.value == pytest.approx(0.2, abs=0.07)
    assert better.difference.low > 0
    assert better.p is not None and better.p < 0.01 and better.mcnemar.p < 0.01
    p_values = [row.p or 0.0 for row in rows]
    assert [row.p_holm for row in rows] == holm(p_values)
    assert [row.mcnemar_p_holm for row in rows] == holm([row.mcnemar.p for row in rows])
    assert better.as_dict()["first"] == "good"


def test_the_same_predictions_differ_by_nothing() -> None:
    data = examples(40)
    (row,) = compare_predictions(data, {"a": system(data, 0.8, 1), "b": system(data, 0.8, 1)}, metric="f1")
    assert (row.difference.value, row.p) == (0, 1)
    assert row.difference.low == -row.difference.high < 0, "no zero width: 40 items do not prove equality"
    assert row.mcnemar.p == 1


def test_swapping_the_systems_swaps_the_sign() -> None:
    data = examples(60)
    one, other = system(data, 0.9, 1), system(data, 0.6, 2)
    (forth,) = compare_predictions(data, {"a": one, "b": other}, metric="macro_f1")
    (back,) = compare_predictions(data, {"b": other, "a": one}, metric="macro_f1")
    assert forth.difference.value == pytest.approx(-(back.difference.value or 0))
    assert forth.p is not None and back.p is not None
    assert forth.p < 0.02 and back.p < 0.02
    assert (forth.mcnemar.only_first, forth.mcnemar.only_second) == (
        back.mcnemar.only_second,
        back.mcnemar.only_first,
    )


def test_pairing_makes_the_interval_narrow_and_groups_make_it_wide() -> None:
    single, grouped = examples(300), examples(300, group_size=30)
    base = system(single, 0.7, 1)
    # Better on whole stretches of thirty: six of ten groups.
    better = [
        Prediction(p.example_id, e.label if (at // 30) % 5 < 3 and at % 4 == 0 else p.label)
        for at, (p, e) in enumerate(zip(base, single, strict=True))
    ]
    (by_row,) = compare_predictions(single, {"better": better, "base": base})
    (by_group,) = compare_predictions(grouped, {"better": better, "base": base})
    assert by_row.difference.value == by_group.difference.value

    def width(low: float | None, high: float | None) -> float:
        assert low is not None and high is not None
        return high - low

    assert width(by_group.difference.low, by_group.difference.high) > 1.2 * width(
        by_row.difference.low, by_row.difference.high
    )
    # Unpaired, the difference of two proportions near 0.7 on 300 rows would be about 0.15 wide.
    assert width(by_row.difference.low, by_row.difference.high) < 0.08


@pytest.mark.parametrize(("n", "group_size", "settled"), [(9, 1, False), (10, 1, True), (90, 10, False)])
def test_nothing_is_significant_with_fewer_than_ten_clusters(n: int, group_size: int, settled: bool) -> None:
    data = examples(n, group_size)
    found = compare_predictions(data, {"right": system(data, 1, 0), "wrong": system(data, 0, 0)})
    (row,) = found
    assert row.p is not None and row.p < 0.01
    assert (row.significant, row.as_dict()["significant"]) == (settled, settled)
    text = str(found)
    assert ("9 clusters are too few" in text) is not settled
    assert ("not settled" in text) is not settled
    both = score_systems(data, {"right": system(data, 1, 0), "wrong": system(data, 0, 0)})
    assert ("9 clusters are too few" in str(both)) is not settled


def test_what_cannot_be_compared_says_why() -> None:
    data = examples(4)
    two = {"a": system(data, 1, 0), "b": system(data, 0, 0)}
    (row,) = compare_predictions(data, two, metric="pair_accuracy")
    assert (row.difference.value, row.difference.why, row.p, row.p_holm) == (None, "no sequences", None, None)
    one_class = [e for e in data if e.label]
    said = {
        name: [p for p in some if p.example_id in {e.id for e in one_class}] for name, some in two.items()
    }
    (row,) = compare_predictions(one_class, said, metric="balanced_accuracy")
    assert row.difference.why == "only one class in the truth" and row.p is None
    scored = [Prediction(e.id, e.label, 0.5) for e in data]
    for order in ({"a": scored, "b": two["b"]}, {"a": two["a"], "b": scored}):
        (row,) = compare_predictions(data, order, metric="brier")
        assert row.difference.why == "no prediction has a score"
    (row,) = compare_predictions(examples(4, group_size=4), two)
    assert (row.difference.value, row.difference.low, row.p) == (1.0, None, None)
    with pytest.raises(ConfigError, match="did you mean 'accuracy'"):
        compare_predictions(data, two, metric="acuracy")
    with pytest.raises(ConfigError, match="at least two systems: got 1"):
        compare_predictions(data, {"a": two["a"]})


def test_any_two_functions_of_rows_can_be_compared() -> None:
    rng = random.Random(0)
    ones = [rng.random() for _ in range(80)]

    def shifted(by: float) -> object:
        return lambda rows: sum(ones[row] + by for row in rows) / len(rows)

    found = bootstrap_difference(shifted(0.25), shifted(0.0), [""] * 80, resamples=200)  # type: ignore[arg-type]
    assert found.interval.value == pytest.approx(0.25)
    assert found.interval.low is None, "no spread, and no limits that an interval could follow from"
    assert found.p == pytest.approx(2 / 201)

    def nothing(rows: IntArray) -> None:
        return None

    assert bootstrap_difference(nothing, nothing, ["a", "b"]).p is None
    assert bootstrap_difference(nothing, nothing, []).interval.why == "no rows"

    assert bootstrap_difference(nothing, shifted(0.0), ["a", "b"]).interval.value is None  # type: ignore[arg-type]
    assert bootstrap_difference(shifted(0.0), nothing, ["a", "b"]).interval.value is None  # type: ignore[arg-type]
    one = bootstrap_difference(shifted(0.5), shifted(0.0), ["a", "a"])  # type: ignore[arg-type]
    assert (one.interval.value, one.p) == (pytest.approx(0.5), None) and "one cluster" in one.interval.why


def test_p_is_twice_the_share_of_resamples_on_the_other_side() -> None:
    """Of three draws from 1, 1 and -0.9 at least two must be -0.9 for a sum below 0: 7 of 27."""
    values = [1.0, 1.0, -0.9]

    def mean(rows: IntArray) -> float:
        return sum(values[row] for row in rows) / len(rows)

    found = [
        bootstrap_difference(mean, lambda rows: 0.0, ["", "", ""], **seed)
        for seed in ({}, {"seed": 0}, {"seed": 1})
    ]
    assert found[0].p == pytest.approx(14 / 27, abs=0.05)
    assert found[0] == found[1] != found[2]
    turned = bootstrap_difference(lambda rows: 0.0, mean, ["", "", ""])
    assert turned.p == pytest.approx(14 / 27, abs=0.05)


def test_one_system_always_right_and_one_always_wrong() -> None:
    """No resample differs: the interval is Wilson's, stretched to differences from -1 to 1."""
    data = examples(10)
    right, wrong = system(data, 1, 0), system(data, 0, 0)
    share = wilson(0, 10).high or 0.0
    (row,) = compare_predictions(data, {"right": right, "wrong": wrong})
    assert (row.difference.low, row.difference.high) == pytest.approx((1 - 2 * share, 1))
    assert (row.mcnemar.only_first, row.mcnemar.only_second, row.difference.n) == (10, 0, 10)
    assert "difference of accuracy" in row.summary().tables[0].columns
    (row,) = compare_predictions(data, {"wrong": wrong, "right": right})
    assert (row.difference.low, row.difference.high) == pytest.approx((-1, -1 + 2 * share))
    assert row.verdict == "significantly different"
    assert repr(Comparisons((row,))) == "Comparisons(1 pairs, 1 significantly different)"


def test_significant_is_below_the_level_and_not_at_it() -> None:
    data = examples(20)
    (row,) = compare_predictions(data, {"a": system(data, 0.9, 1), "b": system(data, 0.8, 2)})
    assert not replace(row, p_holm=1 - row.difference.level).significant
    assert replace(row, p_holm=0.01).significant
    unknown = replace(row, p_holm=None)
    assert not unknown.significant and unknown.verdict.startswith("undefined")
    (again,) = compare_predictions(data, {"a": system(data, 0.9, 1), "b": system(data, 0.8, 2)}, seed=0)
    (other,) = compare_predictions(data, {"a": system(data, 0.9, 1), "b": system(data, 0.8, 2)}, seed=1)
    assert again == row != other


@pytest.mark.parametrize("p", [-0.1, 1.1, "small", None])
def test_what_is_no_p_value_is_refused(p: object) -> None:
    with pytest.raises(DataError, match="from 0 to 1"):
        holm([0.5, p])  # type: ignore[list-item]
    assert holm([0.0, 1.0]) == [0.0, 1.0]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_no_pairs_make_an_empty_table() -> None:
    assert "difference of score" in str(Comparisons(()).summary().tables[0].columns)


def test_mcnemars_test_is_exact_below_25() -> None:
    assert mcnemar(20, 4).method == "exact binomial"
    assert mcnemar(20, 5).method.startswith("chi-square")
    assert (mcnemar(0, 0).only_first, mcnemar(0, 0).only_second) == (0, 0)
    assert bootstrap_difference(lambda rows: 0.0, lambda rows: 0.0, []).interval.n == 0
