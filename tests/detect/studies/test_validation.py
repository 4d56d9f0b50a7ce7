"""Trials: every example is predicted once, by a model that was not trained on it."""

from __future__ import annotations

import numpy as np

from deadpan.detect.studies.validation import cross_validate
from detect_corpus import noise_corpus, word_corpus


def test_every_example_is_predicted_once_by_a_model_not_trained_on_it():
    trial = cross_validate("bow", word_corpus(), k=3, threshold="balanced")
    assert [p.example_id for p in trial.predictions] == [e.id for e in word_corpus()]
    assert np.mean([p.label == e.label for p, e in zip(trial.predictions, word_corpus(), strict=True)]) > 0.9
    assert len(trial.thresholds) == 3
    assert trial.cost()["fit_seconds"] > 0


def test_noise_scores_near_chance():
    rows = noise_corpus()
    trial = cross_validate("bow", rows, k=4)
    assert np.mean([p.label == e.label for p, e in zip(trial.predictions, rows, strict=True)]) < 0.75
