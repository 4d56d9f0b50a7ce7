"""Logistic regression and calibration, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from deadpan.detect.systems.logistic import DenseBlock, fit_logistic, fit_scale


def test_the_optimum_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(300, 12))
    labels = columns[:, 0] - columns[:, 1] + rng.normal(size=300) > 0.3
    ours = fit_logistic([DenseBlock(columns[:, :5]), DenseBlock(columns[:, 5:])], labels, 0.7)
    theirs = LogisticRegression(C=0.7, tol=1e-8, max_iter=1000).fit(columns, labels)
    assert np.concatenate(ours.weights) == pytest.approx(theirs.coef_[0], abs=5e-3)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], abs=5e-3)


def test_scaled_margins_are_calibrated():
    rng = np.random.default_rng(1)
    margins = rng.normal(size=4000) * 3
    labels = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * margins - 1)))
    slope, shift = fit_scale(margins, labels)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert shift == pytest.approx(-1, abs=0.12)
