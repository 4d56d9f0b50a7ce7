"""The detector in the box: the student for English, the default one for the rest."""

from __future__ import annotations

import pytest

from deadpan.detect.answer import answer_text
from deadpan.detect.auto import student_is_ready
from deadpan.detect.detector import Detector
from deadpan.errors import ConfigError, DeadpanError
from deadpan.records import Example, Turn

TEXTS = ("Great, another Monday.", "회의는 3시에 시작합니다.", "The invoice is attached.", "그래, 참 잘했네.")

needs_student = pytest.mark.skipif(not student_is_ready(), reason="needs deadpan models pull minilm-l6")


@pytest.fixture(scope="module")
def auto() -> Detector:
    return Detector.load("auto")


@needs_student
def test_english_is_answered_by_the_student_and_the_rest_by_the_default(auto):
    examples = [Example(str(n), Turn("", text)) for n, text in enumerate(TEXTS)]
    student, default = (Detector.load(name).predict(examples) for name in ("student", "default"))
    assert auto.predict(examples) == [student[0], default[1], student[2], default[3]]
    assert student[0] != default[0]
    assert auto.seen_ is not None and len(auto.seen_) >= len(Detector.load("default").seen_ or ())


@needs_student
def test_a_prevalence_holds_for_both_detectors():
    rare = [answer_text(text, prevalence=0.1).prediction.score for text in TEXTS[:2]]
    even = [answer_text(text).prediction.score for text in TEXTS[:2]]
    assert all(low < high for low, high in zip(rare, even, strict=True))


@needs_student
def test_it_is_neither_trained_nor_saved(auto, tmp_path):
    with pytest.raises(ConfigError, match="trained already"):
        auto.save(tmp_path / "model")
    with pytest.raises(DeadpanError):
        auto.fit(["Great, rain.", "It rains."], [True, False])


def test_without_the_encoder_the_default_detector_answers_everything(monkeypatch):
    monkeypatch.setattr("deadpan.detect.auto.installed", lambda: {})
    alone = Detector.load("auto")
    assert alone.system == "linear"
    assert answer_text(TEXTS[0]).model == "default"
