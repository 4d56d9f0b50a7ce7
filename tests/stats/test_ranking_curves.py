"""Curves agree with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from deadpan.errors import DataError
from deadpan.stats.ranking import score_curves


@pytest.mark.parametrize("seed", range(5))
def test_the_curves_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(80) < 0.4
    scores = np.round(rng.random(80) + 0.3 * truth, 1)  # with ties
    curve = score_curves(truth.tolist(), scores.tolist())
    assert curve.average_precision == pytest.approx(average_precision_score(truth, scores))
    rates, recalls, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert [0.0, *curve.false_positive_rate] == pytest.approx(rates.tolist())
    assert [0.0, *curve.recall] == pytest.approx(recalls.tolist())
    area = np.trapezoid([0, *curve.recall], [0, *curve.false_positive_rate])
    assert area == pytest.approx(roc_auc_score(truth, scores))
    assert curve.thinned(3)[0] == 0 and curve.thinned(3)[-1] == len(curve.thresholds) - 1


@pytest.mark.parametrize(("truth", "scores"), [([], []), ([True], [0.5]), ([True, False], [0.5])])
def test_what_has_no_curve_is_refused(truth, scores):
    with pytest.raises(DataError, match="curves need"):
        score_curves(truth, scores)


def test_a_drawing_has_at_most_forty_points():
    curve = score_curves([place % 2 == 0 for place in range(100)], [place / 100 for place in range(100)])
    assert len(curve.thinned()) == 40 and len(curve.thinned(200)) == 100
