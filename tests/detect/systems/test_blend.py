"""[blend]: its members, and blending finished predictions."""

from __future__ import annotations

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.systems.blend import blend_scores
from deadpan.errors import DataError
from deadpan.records import Prediction
from detect_corpus import word_corpus


def test_a_blend_takes_names_with_commas():
    assert Detector("blend", systems="bow, cues").settings["systems"] == ["bow", "cues"]


def test_a_prediction_per_example_is_needed():
    answers = [Prediction(example.id, True, 0.5) for example in word_corpus()]
    with pytest.raises(DataError, match="one prediction"):
        blend_scores([answers[:-1]], word_corpus())


def test_members_may_be_variants_and_are_loaded_again(tmp_path):
    blend = Detector("blend:bow+history:majority", folds=2).fit(word_corpus())
    assert blend.settings["systems"] == ["bow", "history:majority"]
    blend.save(tmp_path / "model")
    assert Detector.load(tmp_path / "model").predict(word_corpus()) == blend.predict(word_corpus())


def test_the_threshold_of_a_blend_comes_from_the_other_folds():
    """All scores are far below 0.5 for both labels: only a chosen threshold tells them apart."""
    corpus = word_corpus()
    rare = [e for n, e in enumerate(corpus) if n % 2 == 0 or n % 10 == 1]
    low = [Prediction(e.id, False, 0.2 if e.label else 0.1) for e in rare]
    half, cuts = blend_scores([low, low], rare, 3)
    assert cuts == (0.5, 0.5, 0.5)
    chosen, cuts = blend_scores([low, low], rare, 3, threshold="f1")
    assert [p.score for p in chosen] == [p.score for p in half]
    assert [p.label for p in chosen] == [e.label for e in rare]
    assert all(cut < 0.5 for cut in cuts)
