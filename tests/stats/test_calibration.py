"""Calibration against scikit-learn and by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from deadpan.errors import ConfigError, DataError
from deadpan.stats import brier, calibrate, expected_calibration_error, reliability

rows_with_scores = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=60)


def test_expected_calibration_error_by_hand() -> None:
    # Two bins: 0.2 said where 1 of 2 is true, 0.9 said where 1 of 1 is.
    found = expected_calibration_error([True, False, True], [0.2, 0.2, 0.9], bins=2)
    assert found == pytest.approx(2 / 3 * 0.3 + 1 / 3 * 0.1)


@given(rows_with_scores)
@settings(deadline=None)
def test_tables_are_those_of_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    truth, scores = [label for label, _ in rows], [score for _, score in rows]
    true, said = calibration_curve(np.array(truth, dtype=int), scores, n_bins=5, strategy="uniform")
    table = reliability(truth, scores, bins=5)
    assert [row.share_sarcastic for row in table] == pytest.approx(true)
    assert [row.mean_score for row in table] == pytest.approx(said)
    assert sum(row.n for row in table) == len(rows)
    assert brier(truth, scores) == pytest.approx(brier_score_loss(truth, scores, labels=[False, True]))


def test_equal_mass_is_that_of_scikit_learn_and_equal_in_size() -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, size=500)
    truth = (rng.random(500) < scores).tolist()
    true, said = calibration_curve(truth, scores, n_bins=10, strategy="quantile")
    table = reliability(truth, scores.tolist(), bins=10, by="mass")
    assert [row.n for row in table] == [50] * 10
    assert [row.share_sarcastic for row in table] == pytest.approx(true)
    assert [row.mean_score for row in table] == pytest.approx(said)


@given(rows_with_scores, st.randoms(use_true_random=False), st.sampled_from(["width", "mass"]))
def test_the_order_of_rows_does_not_matter(rows: list[tuple[bool, float]], shuffler: random.Random, by: str) -> None:
    shuffled = rows.copy()
    shuffler.shuffle(shuffled)
    found = [
        expected_calibration_error([label for label, _ in some], [score for _, score in some], 4, by)  # type: ignore[arg-type]
        for some in (rows, shuffled)
    ]
    assert found[0] == pytest.approx(found[1])
    assert 0 <= found[0] <= 1


def test_one_score_for_all_is_one_bin() -> None:
    (row,) = reliability([True, False, False, False], [0.5] * 4, by="mass")
    assert (row.n, row.mean_score, row.share_sarcastic) == (4, 0.5, 0.25)


@pytest.mark.parametrize(
    ("scores", "said"), [([math.nan, 0.1], "1 of 2 are NaN"), ([0.5, 1.5], "from 0.5 to 1.5"), ([0.5], "1 scores")]
)
def test_what_cannot_be_calibrated_is_refused(scores: list[float], said: str) -> None:
    with pytest.raises(DataError, match=said):
        brier([True, False], scores)
    with pytest.raises(DataError, match="got none"):
        brier([], [])
    with pytest.raises(ConfigError, match=r"bins must be .* at least 1: got 0"):
        reliability([True], [0.5], bins=0)


def test_margins_and_missing_scores_are_explained() -> None:
    none = calibrate([True], [None])
    assert (none.n, none.why) == (0, "no prediction has a score")
    assert "Calibration is undefined: no prediction has a score." in none.summary().notes
    margins = calibrate([True, False], [3.0, -2.0])
    assert margins.brier is None and "not probabilities" in margins.why
    some = calibrate([True, False, True], [1.0, None, 0.5])
    assert (some.n, some.brier) == (2, 0.125)
    assert some.as_dict()["n"] == 2


@pytest.mark.parametrize("scores", [[1.5, 0.5], [0.5, -0.5]])
def test_one_score_outside_0_to_1_is_enough_to_be_no_probability(scores: list[float]) -> None:
    assert "not probabilities" in calibrate([True, False], scores).why
    with pytest.raises(DataError, match="from 0 to 1"):
        brier([True, False], scores)


def test_0_and_1_are_probabilities() -> None:
    sure = calibrate([True, False], [1.0, 0.0])
    assert (sure.brier, sure.ece_width, sure.ece_mass, sure.why) == (0, 0, 0, "")
    assert [(row.low, row.high, row.n) for row in sure.reliability] == [(0.0, 0.1, 1), (0.9, 1.0, 1)]


def test_a_bin_includes_its_upper_edge() -> None:
    table = reliability([True, False, False, True], [0.0, 0.5, 0.5000001, 1.0], bins=2)
    assert [(row.low, row.high, row.n) for row in table] == [(0.0, 0.5, 2), (0.5, 1.0, 2)]


def test_mistakes_are_one_line() -> None:
    with pytest.raises(DataError, match="got 2 examples, 1 scores"):
        calibrate([True, False], [0.5])
    with pytest.raises(DataError, match="numbers or None: got 'high'"):
        calibrate([True], ["high"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="numbers from 0 to 1"):
        brier([True], ["high"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="a label for every example"):
        brier([None], [0.5])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="choose from width, mass"):
        reliability([True], [0.5], by="size")  # type: ignore[arg-type]
    assert len(reliability([True], [0.5], bins=1)) == 1
