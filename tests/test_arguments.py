"""Wrong arguments to the statistics are errors with a cure, never a TypeError out of the depths."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan import ratings, splits, stats
from deadpan.errors import DeadpanError
from deadpan.records import Example, Judgment, Prediction, Turn

EXAMPLES = [Example(str(n), Turn("", f"text {n}"), label=n % 2 == 0) for n in range(6)]
PREDICTIONS = [Prediction(str(n), n % 3 == 0, 0.1 * n) for n in range(6)]
ROWS = [["yes", "no"], ["yes", "yes"], ["no", "no"]]
FUNCTIONS: dict[Callable[..., Any], dict[str, Any]] = {
    stats.score_predictions: {"examples": EXAMPLES, "predictions": PREDICTIONS, "resamples": 10},
    stats.compare_predictions: {
        "examples": EXAMPLES, "systems": {"a": PREDICTIONS, "b": PREDICTIONS}
    },
    stats.score_systems: {"examples": EXAMPLES, "systems": {"a": PREDICTIONS}, "resamples": 10},
    stats.confusion: {"truth": [True, False], "answers": [True, None]},
    stats.accuracy: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.precision: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.recall: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.f1: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.macro_f1: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.weighted_f1: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.balanced_accuracy: {"counts": [[1, 0, 0], [0, 1, 0]]},
    stats.brier: {"truth": [True, False], "scores": [0.2, 0.3]},
    stats.reliability: {"truth": [True, False], "scores": [0.2, 0.3]},
    stats.expected_calibration_error: {"truth": [True, False], "scores": [0.2, 0.3]},
    stats.calibrate: {"truth": [True, False], "scores": [0.2, None]},
    stats.pair_accuracy: {
        "truth": [True, False], "answers": [True, None], "scores": [0.2, 0.3], "sequences": ["a", "a"]
    },
    stats.sequence_scores: {"truth": [True, False], "answers": [True, None], "sequences": ["a", "a"]},
    stats.wilson: {"successes": 1, "n": 3},
    stats.holm: {"p_values": [0.1, 0.2]},
    stats.bootstrap_interval: {"statistic": len, "groups": ["a", "b"], "resamples": 5},
    ratings.agreement: {"ratings": ROWS, "resamples": 10},
    ratings.krippendorff_alpha: {"ratings": ROWS, "resamples": 10},
    ratings.cohen_kappa: {"ratings": ROWS, "resamples": 10},
    ratings.majority: {"ratings": ROWS},
    ratings.dawid_skene: {"ratings": ROWS},
    ratings.match_majority: {"ratings": ROWS},
    ratings.ratings_from_matrix: {"rows": ROWS},
    ratings.ratings_from_judgments: {"judgments": [Judgment("i", "a", "q", "yes", 1.0, "2026-01-01")]},
    splits.split: {"examples": EXAMPLES},
    splits.folds: {"examples": EXAMPLES, "k": 2},
}  # fmt: skip
junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 7),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers(-2, 2), st.floats()), max_size=4),
    st.dictionaries(st.text(max_size=2), st.one_of(st.text(max_size=2), st.lists(st.text(max_size=2))), max_size=3),
    st.sampled_from([object(), np.array([1, 2]), np.array(3), np.array(["a", "b"]), pd.Series(["a", None])]),
    st.just(pd.DataFrame({"a": [1, 2]})),
    st.just(EXAMPLES[:2]),
    st.just(PREDICTIONS[:2]),
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_right_arguments_give_a_result(function: Callable[..., Any]) -> None:
    assert function(**FUNCTIONS[function]) is not None


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(data=st.data())
@settings(max_examples=40)
def test_a_wrong_argument_is_an_error_with_a_cure(function: Callable[..., Any], data: st.DataObject) -> None:
    names = [name for name in inspect.signature(function).parameters if name != "limits"]
    name = data.draw(st.sampled_from(names))
    arguments = FUNCTIONS[function] | {name: data.draw(junk)}
    try:
        function(**arguments)
    except DeadpanError as error:
        assert len(str(error)) > 20 and "\n" not in str(error)
