"""Area under the ROC curve, and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from deadpan.stats.ranking import area_under_curve, auc_interval


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_it_is_the_area_of_scikit_learn(rows):
    scores, labels = np.array([float(m) for m, _ in rows]), np.array([label for _, label in rows])
    if labels.any() and not labels.all():
        assert area_under_curve(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


def test_the_interval_holds_the_value_and_widens_with_clusters():
    rng = np.random.default_rng(0)
    labels = rng.random(200) < 0.5
    scores = labels * 0.5 + rng.random(200)
    alone = auc_interval(labels, scores, np.arange(200))
    together = auc_interval(np.repeat(labels, 4), np.repeat(scores, 4), np.repeat(np.arange(200), 4))
    assert alone.low < alone.value < alone.high
    assert together.high - together.low == pytest.approx(alone.high - alone.low, abs=0.02)


def test_one_label_has_no_area():
    assert auc_interval(np.ones(5, bool), np.arange(5.0), np.arange(5)).value is None
