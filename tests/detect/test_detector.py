"""Detector: scikit-learn's conventions, thresholds from out-of-fold scores, texts it remembers."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from deadpan.detect.detector import Detector, check_model_folder, clear_model_folder, encoder_is_ready
from deadpan.detect.explanation import answer_text
from deadpan.detect.inputs import SeenTexts
from deadpan.detect.verdicts import at_threshold
from deadpan.errors import ConfigError, DataError, DeadpanError, ModelError
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import read_json, write_json, write_manifest
from detect_corpus import word_corpus

TEXTS = [example.response.text for example in word_corpus()]
LABELS = [bool(example.label) for example in word_corpus()]
ENGLISH_AND_KOREAN = (
    "Great, another Monday.",
    "회의는 3시에 시작합니다.",
    "The invoice is attached.",
    "그래, 참 잘했네.",
)
needs_encoder = pytest.mark.skipif(not encoder_is_ready(), reason="needs deadpan models pull minilm-l6")


@pytest.mark.parametrize("kind", [bool, int, np.bool_, np.int64])
def test_texts_and_labels_give_labels_of_the_same_kind(kind):
    detector = Detector("bow").fit(TEXTS, [kind(label) for label in LABELS])
    labels = detector.predict(TEXTS)
    assert isinstance(labels, np.ndarray)
    assert labels.dtype == np.array([kind(1)]).dtype
    assert detector.classes_.tolist() == [kind(0), kind(1)]
    assert detector.score(TEXTS, LABELS) == np.mean(labels == np.array(LABELS)) == 1.0


@pytest.mark.parametrize(
    ("sincere", "sarcastic"), [("sincere", "sarcastic"), ("non-ironic", "ironic"), ("a", "b"), (1, 2), (-1, 1)]
)
def test_any_two_labels_come_back_after_saving_too(tmp_path, sincere, sarcastic):
    labels = [sarcastic if label else sincere for label in LABELS]
    Detector("bow").fit(TEXTS, labels).save(tmp_path)
    detector = Detector.load(tmp_path)
    assert detector.classes_.tolist() == [sincere, sarcastic]
    assert detector.predict(TEXTS).tolist() == labels and detector.score(TEXTS, labels) == 1.0
    assert ((detector.predict_proba(TEXTS)[:, 1] > 0.5) == np.array(LABELS)).all()
    with pytest.raises(DataError, match="was trained on"):
        detector.score(TEXTS, ["other"] * len(TEXTS))


def test_it_abstains_only_if_asked():
    detector, texts = Detector.load("base"), ["Fine by me.", "Das ist ja toll.", "...", "Oh, how wonderful."]
    assert detector.predict(texts).dtype == bool
    said = detector.predict(texts, abstain=True).tolist()
    assert said[1] is said[2] is None
    assert all(a == b for a, b in zip(said, detector.predict(texts).tolist(), strict=True) if a is not None)
    assert detector.score(texts[:1], [False]) in (0.0, 1.0)


def test_examples_give_predictions_and_texts_give_the_same_labels():
    detector = Detector("bow").fit(word_corpus())
    predictions = detector.predict(word_corpus())
    assert all(isinstance(prediction, Prediction) for prediction in predictions)
    assert detector.predict(TEXTS).tolist() == [prediction.label for prediction in predictions]
    assert detector.score(word_corpus()) == 1.0


def test_probabilities_have_two_columns_that_add_up_to_one():
    detector = Detector("bow").fit(TEXTS, LABELS)
    probabilities = detector.predict_proba(TEXTS)
    assert probabilities.shape == (len(TEXTS), 2)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert ((probabilities[:, 1] > 0.5) == detector.predict(TEXTS)).all()


def test_an_array_or_a_column_of_texts_will_do():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": TEXTS, "label": LABELS})
    detector = Detector("bow").fit(table["text"], table["label"])
    assert (detector.predict(np.array(TEXTS)) == detector.predict(TEXTS)).all()
    with pytest.raises(ConfigError, match="one column"):
        detector.predict(table)


def test_it_works_in_cross_validation_pipelines_and_grid_search():
    assert cross_val_score(Detector("bow"), TEXTS, LABELS, cv=3).mean() > 0.9
    assert cross_val_score(Detector("bow"), TEXTS, LABELS, cv=3, scoring="roc_auc").mean() > 0.9
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("detector", Detector("bow"))])
    assert pipeline.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1.0
    search = GridSearchCV(Detector("bow"), {"system": ["majority", "bow"]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_params_ == {"system": "bow"}


def test_a_clone_is_a_detector_of_the_same_settings_that_has_learned_nothing():
    detector = Detector("blend", systems=["bow", "cues"], threshold="f1").fit(word_corpus())
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    assert not hasattr(copy, "classes_")
    with pytest.raises(NotFittedError, match="fit it first"):
        copy.predict(TEXTS)
    assert pickle.loads(pickle.dumps(detector)).predict(TEXTS).tolist() == detector.predict(TEXTS).tolist()  # noqa: S301


def test_params_can_be_changed_and_wrong_ones_are_named():
    detector = Detector("bow").fit(word_corpus()).set_params(system="linear", strength=2.0)
    assert (detector.system, detector.settings["strength"]) == ("linear", 2.0)
    with pytest.raises(NotFittedError, match="fit it first"):
        detector.predict(TEXTS)
    with pytest.raises(ConfigError, match="strenght"):
        detector.set_params(strenght=2.0)


def test_a_repr_is_short_and_says_how_many_texts():
    assert repr(Detector("bow")) == "<Detector 'bow', threshold=0.5>"
    assert "trained on 60 texts" in repr(Detector("bow").fit(word_corpus()))


@pytest.mark.parametrize(
    ("texts", "labels", "cure"),
    [
        ("oh sure", None, "a list of texts"),
        (["oh sure", 5], None, "text 1 is int"),
        (["oh sure", word_corpus()[0]], None, "mixed"),
        (5, None, "a list of texts"),
        (TEXTS, LABELS[:-1], "one label per text"),
        (["a", "b", "c"], ["x", "y", "z"], "two different ones"),
        (["a", "b"], ["x", 1], "two different ones"),
        (["a", "b"], ["x", None], "label 1 is None"),
        (["a", "b"], [True, float("nan")], "label 1 is nan"),
        (TEXTS, None, "both labels"),
    ],
)
def test_wrong_arguments_are_errors_with_the_cure(texts, labels, cure):
    with pytest.raises((ConfigError, DataError), match=cure):
        Detector("bow").fit(texts, labels)


def test_a_detector_that_is_not_trained_says_so(tmp_path):
    for use in (lambda d: d.predict(["x"]), lambda d: d.predict_proba(["x"]), lambda d: d.save(tmp_path / "m")):
        with pytest.raises(NotFittedError, match="fit it first"):
            use(Detector("bow"))
    assert not (tmp_path / "m").exists()


# ---------------------------------------------------------------- thresholds


@pytest.mark.parametrize("threshold", ["", "half", 1.5, -1, float("nan"), True])
def test_a_threshold_is_a_rule_or_a_number_from_0_to_1(threshold):
    with pytest.raises(ConfigError, match="from 0 to 1"):
        Detector("bow", threshold=threshold)


def test_a_chosen_threshold_is_a_number_that_is_saved(tmp_path):
    detector = Detector("bow", threshold="f1").fit(word_corpus())
    assert detector.threshold == "f1"
    assert 0 < detector.threshold_ < 1
    detector.save(tmp_path)
    assert Detector.load(tmp_path).threshold_ == detector.threshold_
    assert [p.label for p in detector.predict(word_corpus())] == [
        p.score > detector.threshold_ for p in detector.predict(word_corpus())
    ]


def test_a_threshold_changes_labels_and_not_scores():
    predictions = [Prediction("a", False, 0.4), Prediction("b", None, None)]
    assert at_threshold(predictions, 0.3) == [Prediction("a", True, 0.4), Prediction("b", None, None)]


# ---------------------------------------------------------------- texts it was trained on


def test_the_texts_of_training_are_saved_from_python_too(tmp_path):
    Detector("bow").fit(word_corpus()[:20]).save(tmp_path)
    loaded = Detector.load(tmp_path)
    shouted = [replace(e, response=Turn("", e.response.text.upper() + "!!")) for e in word_corpus()]
    assert loaded.seen_.contain(shouted).tolist() == [True] * 20 + [False] * 40


def test_a_model_without_a_record_of_its_texts_still_loads(tmp_path):
    detector = Detector("bow").fit(word_corpus())
    detector.seen_ = None
    detector.save(tmp_path)
    assert Detector.load(tmp_path).seen_ is None
    assert SeenTexts.read(tmp_path) is None


# ---------------------------------------------------------------- folders


def test_a_model_without_its_manifest_was_not_saved_to_its_end(tmp_path):
    Detector("bow").fit(word_corpus()).save(tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(ModelError, match="train again"):
        Detector.load(tmp_path)


def test_the_default_detector_loads_and_predicts_as_before():
    detector = Detector.load("base")
    assert detector.predict(["Yeah, right.", "The meeting is at noon."]).tolist() == [True, False]
    (prediction,) = detector.predict([Example("x", Turn("", "Great, another Monday."))])
    assert prediction.score == pytest.approx(DEFAULT_SCORE, abs=1e-6)
    assert len(detector.seen_) > 10_000


DEFAULT_SCORE = 0.8534301572976939
"""Of "Great, another Monday." by the detector of the package."""


@pytest.mark.parametrize("text", ["Ｏｈ　ｇｒｅａｔ，　ａｎｏｔｈｅｒ Monday！", "𝓞𝓱 𝓰𝓻𝓮𝓪𝓽, 𝗮𝗻𝗼𝘁𝗵𝗲𝗿 Monday!"])
def test_ornamental_letters_are_read_as_plain_ones(text):
    default = Detector.load("base")
    assert default.predict_proba([text]).tolist() == default.predict_proba(["Oh great, another Monday!"]).tolist()


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="choose another folder"):
        check_model_folder(tmp_path, overwrite=True)
    check_model_folder(tmp_path / "new", overwrite=False)


def test_clearing_a_model_folder_removes_only_the_files_of_the_model(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "model", tmp_path / "mine.txt"
    (folder / "encoder").mkdir(parents=True)
    (folder / "encoder" / "weights").write_text("old")
    (folder / "notes.txt").write_text("kept")
    elsewhere.write_text("kept")
    write_manifest(folder, command="detect train", config={}, seed=0)
    listed = read_json(folder / "manifest.json")
    listed["files"] |= {name: {"bytes": 4, "sha256": ""} for name in (str(elsewhere), "../mine.txt")}
    listed["files"].pop("notes.txt")
    write_json(folder / "manifest.json", listed)
    clear_model_folder(folder)
    assert elsewhere.read_text() == "kept"
    assert (folder / "notes.txt").read_text() == "kept"
    assert not (folder / "encoder").exists()


@pytest.fixture(scope="module")
def auto() -> Detector:
    return Detector.load("auto")


@needs_encoder
def test_english_is_answered_by_the_student_and_the_rest_by_the_default(auto):
    examples = [Example(str(n), Turn("", text)) for n, text in enumerate(ENGLISH_AND_KOREAN)]
    encoder, base = (Detector.load(name).predict(examples) for name in ("encoder", "base"))
    said = auto.predict(examples)
    assert [p.label for p in said] == [p.label for p in (encoder[0], base[1], encoder[2], base[3])]
    assert [p.score for p in said] == pytest.approx(
        [p.score for p in (encoder[0], base[1], encoder[2], base[3])], abs=1e-5
    )
    assert encoder[0] != base[0]
    assert auto.seen_ is not None and len(auto.seen_) >= len(Detector.load("base").seen_ or ())


@needs_encoder
def test_a_prevalence_holds_for_both_detectors():
    rare = [answer_text(text, prevalence=0.1).prediction.score for text in ENGLISH_AND_KOREAN[:2]]
    even = [answer_text(text).prediction.score for text in ENGLISH_AND_KOREAN[:2]]
    assert all(low < high for low, high in zip(rare, even, strict=True))


@needs_encoder
def test_it_is_neither_trained_nor_saved(auto, tmp_path):
    with pytest.raises(ConfigError, match="trained already"):
        auto.save(tmp_path / "model")
    with pytest.raises(DeadpanError):
        auto.fit(["Great, rain.", "It rains."], [True, False])


def test_without_the_encoder_base_answers_everything(monkeypatch):
    monkeypatch.setattr("deadpan.models.installed", lambda: {})
    alone = Detector.load("auto")
    assert alone.system == "mixture"
    assert answer_text(ENGLISH_AND_KOREAN[0]).model == "base"
