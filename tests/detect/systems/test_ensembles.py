"""Systems made of other systems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.studies.comparison import PARTS, TEXT, WITH, compare_history
from deadpan.detect.systems.ensembles import Habits, History, add_history, blend_scores
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn
from deadpan.splits import Fold, folds
from detect_corpus import word_corpus

BOW = {"student": "bow", "teacher": "blend:bow+cues", "folds": 2}
WORDS = [
    first + second for first in "bdfgkm" for second in ("an", "eb", "il", "op", "ur")
]  # no two texts are near copies


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


def comments(count: int = 240, seed: int = 0) -> list[Example]:
    """Texts that tell nothing, by ten mockers and ten others, in groups of one."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        author = int(rng.integers(20))
        label = bool(rng.random() < (0.9 if author < 10 else 0.1))
        text = " ".join(rng.choice(WORDS, 4))
        rows.append(Example(f"{number}", Turn(f"user{author}", text), label=label, group=f"{number}"))
    return rows


def test_known_authors_are_told_by_their_habit():
    model = Detector("history", text="bow", folds=3).fit(comments())
    fresh = comments(100, seed=1)
    right = [p.label == e.label for p, e in zip(model.predict(fresh), fresh, strict=True)]
    assert np.mean(right) > 0.8
    unknown = [replace(e, response=Turn("somebody new", e.response.text)) for e in fresh]
    scores = {round(p.score, 6) for p in model.predict(unknown)}
    plain = {
        round(p.score, 6) for p in model.predict([replace(e, response=Turn("", e.response.text)) for e in unknown])
    }
    assert scores == plain  # a name that training does not know says as much as none


def test_labels_planted_in_the_test_part_change_no_prediction():
    train, test = comments(), comments(60, seed=2)
    model = History(text="bow", folds=3).fit(train)
    planted = [replace(e, label=not e.label) for e in test]
    assert model.predict(planted) == model.predict(test) == model.predict([replace(e, label=None) for e in test])


def test_an_author_with_one_comment_does_not_leak_its_own_label_in_training():
    """If the own label were in the history, history would be perfect in training and trusted blindly."""
    rng = np.random.default_rng(0)
    once = [
        Example(f"{n}", Turn(f"only{n}", " ".join(rng.choice(WORDS, 4))), label=bool(rng.integers(2)), group=f"{n}")
        for n in range(200)
    ]
    model = History(text="bow", folds=3).fit(once)
    assert abs(model.trust_.weights[0][1]) < 0.3
    same = [replace(e, id=f"{e.id}+", response=Turn(e.response.speaker, "omega")) for e in once]
    right = [p.label == e.label for p, e in zip(model.predict(same), same, strict=True)]
    assert np.mean(right) < 0.65


def test_habits_are_smoothed_and_unknown_is_zero():
    rows = [Example("a", Turn("x", "t"), label=True), Example("b", Turn("y", "t"), label=False)]
    habits = Habits.of(rows, "author")
    assert 0 < habits.log_odds(rows[0]) < 1
    assert habits.log_odds(Example("c", Turn("z", "t"))) == habits.log_odds(Example("c", Turn("", "t"))) == 0
    assert habits.knows(rows[0]) and not habits.knows(Example("c", Turn("[deleted]", "t")))


def test_text_and_history_are_two_rows_and_unseen_authors_are_apart():
    rows = [*comments(200), *(replace(e, id=f"{e.id}!", response=Turn(f"only {e.id}", "x y")) for e in comments(40, 3))]
    study = compare_history(rows, "bow", k=3)
    assert set(study.cells) == {TEXT, WITH} and tuple(study.cells[TEXT]) == PARTS
    assert study.cells[WITH]["author known"].value > study.cells[TEXT]["author known"].value + 0.1
    assert study.cells[TEXT]["author unknown"].n == 40
    assert "no history" in str(study)
    gain = study.cells[WITH]["all"].value - study.cells[TEXT]["all"].value
    assert f"Gain of history on all: {gain:+.3f} [+" in str(study)
    assert (study.pair.first, study.pair.second) == (WITH, TEXT)
    with pytest.raises(DataError, match="known author"):
        compare_history([replace(e, response=Turn("", e.response.text)) for e in rows], "bow")
    with pytest.raises(ConfigError, match="pair_accuracy cannot be computed"):
        compare_history(rows, "bow", metric="pair_accuracy")


@pytest.mark.parametrize("speakers", [("A", "B"), ("customer", "agent")])
def test_the_roles_in_a_dialogue_are_not_authors(speakers):
    rows = [
        replace(e, response=Turn(speakers[n % 2], e.response.text), context=(Turn(speakers[1 - n % 2], "so"),))
        for n, e in enumerate(comments(60))
    ]
    with pytest.raises(DataError, match=r"the corpus has no authors: its speakers \("):
        compare_history(rows, "bow", k=3)


def test_several_systems_are_blended_before_history_is_added():
    study = compare_history(comments(200), ["bow", "cues"], k=3)
    assert study.system == "bow + cues"
    assert study.cells[WITH]["all"].value > study.cells[TEXT]["all"].value + 0.1


def test_history_added_to_finished_scores_never_sees_a_test_label():
    fold = folds(comments(), 3, seed=0)[0]
    said = {e.id: Prediction(e.id, True, 0.6) for e in (*fold.train, *fold.test)}
    planted = Fold(fold.train, [replace(e, label=not e.label) for e in fold.test])
    assert add_history(said, fold, ["author"]) == add_history(said, planted, ["author"])
    scores = {p.score for p in add_history(said, fold, ["author"])}
    assert len(scores) > 5  # authors differ


def test_wrong_settings_are_named():
    with pytest.raises(ConfigError, match="by names"):
        History(by=[])
    with pytest.raises(ConfigError, match="linear"):
        History(text="liner")
