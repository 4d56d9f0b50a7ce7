"""Scores of right and wrong against scikit-learn and a published table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from deadpan import stats
from deadpan.errors import DataError
from deadpan.stats.scores import undefined_reason

pairs_of_labels = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)


def test_isarcasm_people_score_what_the_paper_says() -> None:
    # Table 5 of iSarcasm: intended by perceived; Table 7 gives precision, recall and F of the people.
    counts = np.array([[322.0, 50.0, 0.0], [26.0, 61.0, 0.0]])
    assert float(stats.precision(counts)) == pytest.approx(0.550, abs=5e-4)
    assert float(stats.recall(counts)) == pytest.approx(0.701, abs=5e-4)
    assert float(stats.f1(counts)) == pytest.approx(0.616, abs=5e-4)


@given(pairs_of_labels)
@settings(deadline=None, max_examples=40)
def test_scores_are_those_of_scikit_learn(rows: list[tuple[bool, bool]]) -> None:
    truth, answers = [label for label, _ in rows], [answer for _, answer in rows]
    counts = stats.confusion(truth, answers)
    p, r, f, _ = metrics.precision_recall_fscore_support(truth, answers, labels=[False, True], zero_division=0)
    for side in (False, True):
        assert float(stats.precision(counts, side)) == pytest.approx(p[int(side)])
        assert float(stats.recall(counts, side)) == pytest.approx(r[int(side)])
        assert float(stats.f1(counts, side)) == pytest.approx(f[int(side)])
    assert float(stats.accuracy(counts)) == pytest.approx(metrics.accuracy_score(truth, answers))
    weighted = metrics.f1_score(truth, answers, average="weighted", zero_division=0)
    assert float(stats.weighted_f1(counts)) == pytest.approx(weighted)
    if len(set(truth)) == 2:
        assert float(stats.macro_f1(counts)) == pytest.approx(metrics.f1_score(truth, answers, average="macro"))
        balanced = metrics.balanced_accuracy_score(truth, answers)
        assert float(stats.balanced_accuracy(counts)) == pytest.approx(balanced)
    else:
        assert np.isnan(stats.macro_f1(counts)) and np.isnan(stats.balanced_accuracy(counts))


def test_unread_lowers_recall_and_accuracy_but_not_precision() -> None:
    read = stats.confusion([True, True, False, False], [True, True, True, False])
    unread = stats.confusion([True, True, False, False], [True, None, True, None])
    assert float(stats.accuracy(read)) == 0.75
    assert float(stats.accuracy(unread)) == 0.25
    assert float(stats.recall(unread)) == 0.5
    assert float(stats.precision(unread)) == 0.5
    assert float(stats.precision(unread, sarcastic=False)) == 0.0


def test_many_tables_at_once_score_as_one_by_one() -> None:
    tables = np.random.default_rng(0).integers(0, 9, size=(40, 2, 3)).astype(float)
    for score in (stats.accuracy, stats.f1, stats.macro_f1, stats.weighted_f1, stats.balanced_accuracy):
        np.testing.assert_array_equal(score(tables), [score(table) for table in tables])


def test_what_is_no_table_of_counts_is_refused() -> None:
    for junk in ("abc", None, [[1, 2], [3]], [1, 2, 3]):
        with pytest.raises(DataError, match="2 x 3 counts"):
            stats.accuracy(junk)  # type: ignore[arg-type]


def test_confusion_refuses_unequal_lengths() -> None:
    with pytest.raises(DataError, match="2 examples and 1 answers"):
        stats.confusion([True, False], [True])


@pytest.mark.parametrize(
    ("score", "table", "word"),
    [
        ("f1", [[3, 0], [2, 0]], ""),  # nothing predicted sarcastic, but there are cases: a real 0
        ("f1", [[3, 1], [0, 0]], ""),  # no case, but a prediction: a real 0
        ("f1", [[3, 0], [0, 0]], "nothing is or was predicted sarcastic"),
        ("accuracy", [[3, 0], [2, 0]], ""),
        ("accuracy", [[3, 1], [0, 0]], ""),
        ("f1_not", [[0, 0], [0, 3]], "nothing is or was predicted"),
        ("accuracy", [[0, 0], [0, 0]], "no labelled examples"),
        ("precision", [[1, 0], [0, 0]], "nothing was predicted sarcastic"),  # one example is not none
        ("macro_f1", [[3, 1], [0, 0]], "only one class in the truth"),
        ("balanced_accuracy", [[0, 0], [1, 2]], "only one class in the truth"),
        ("macro_f1", [[0, 1], [1, 0]], ""),
    ],
)
def test_a_remark_is_made_only_of_a_score_that_is_0_by_convention(score, table, word):
    said = undefined_reason(score, np.array(table, dtype=float))
    assert (said == "") if not word else said.startswith(word)
