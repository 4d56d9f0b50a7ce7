"""[distilled]: a student learns from a teacher's scores, and from texts without a label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.detect.detector import Detector
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn
from detect_corpus import word_corpus

BOW = {"student": "bow", "teacher": "blend:bow+cues", "folds": 2}


def test_a_student_is_saved_without_its_teacher(tmp_path):
    corpus = word_corpus()
    model = Detector("distilled", **BOW).fit(corpus)
    right = [p.label == e.label for p, e in zip(model.predict(corpus), corpus, strict=True)]
    assert sum(right) > 0.9 * len(right)
    model.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"student"}
    assert Detector.load(tmp_path).predict(corpus) == model.predict(corpus)


def test_wrong_labels_are_softened_by_the_teacher():
    """One label in eight is flipped: the student doubts those more than a system that believes all."""
    corpus = word_corpus()
    noisy = [replace(e, label=e.label ^ (n % 8 == 0)) for n, e in enumerate(corpus)]
    flipped = [(n, e) for n, e in enumerate(corpus) if n % 8 == 0]

    def towards_truth(detector: Detector) -> float:
        said = detector.fit(noisy).predict([e for _, e in flipped])
        return sum(p.score if e.label else 1 - p.score for p, (_, e) in zip(said, flipped, strict=True))

    assert towards_truth(Detector("distilled", **BOW, trust=1.0)) > towards_truth(Detector("bow"))


def test_words_of_unlabelled_texts_are_learned():
    corpus = word_corpus()
    sarcastic = next(e for e in corpus if e.label)
    unlabelled = [
        Example(f"new {n}", Turn("", f"{e.response.text} {'zork' if e.label else 'plim'}"))
        for n, e in enumerate(corpus)
    ]
    model = Detector("distilled", **BOW, pseudo=True, sure=0.6).fit([*corpus, *unlabelled])
    assert model.predictor.pseudo_labelled_ > len(unlabelled) // 2
    zork, plim = (model.predict([Example("x", Turn("", word))])[0].score for word in ("zork", "plim"))
    assert zork > plim
    assert model.seen_.contain([unlabelled[0], sarcastic]).all(), "evaluate must not test on them"
    assert Detector("distilled", **BOW).fit(corpus).predictor.pseudo_labelled_ == 0


@pytest.mark.parametrize(
    "wrong", [{"teacher": "distilled"}, {"trust": 2.0}, {"sure": 0.2}, {"copies": 0}, {"teacher": "nothing"}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        Detector("distilled", **wrong)
