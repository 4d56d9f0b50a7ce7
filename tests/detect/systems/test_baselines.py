"""SARC's baselines learn what is there to learn."""

from __future__ import annotations

import pytest

from deadpan import Detector
from deadpan.datasets import read_dataset
from deadpan.detect.systems.baselines import BagOfBigrams, BagOfWords
from deadpan.errors import DataError, ModelError
from deadpan.records import Example, Turn

TRAIN = [
    Example(f"{n}", Turn("", f"{'oh sure that went well' if n % 2 else 'that was fine'} {n}"), (), bool(n % 2))
    for n in range(40)
]


def test_a_telling_word_is_learnt_and_named():
    model = BagOfWords().fit(TRAIN)
    yes, no = model.predict([Example("a", Turn("", "Oh sure")), Example("b", Turn("", "fine"))])
    assert (yes.label, no.label) == (True, False)
    assert yes.score > 0.5 > no.score
    sarcastic, sincere = model.top_features(3)
    assert {"oh", "sure", "went", "well"} >= {word for word, _ in sarcastic}
    assert sincere[0][1] < 0


def test_bigrams_see_order():
    train = [Example(f"{n}", Turn("", "not good" if n % 2 else "good not"), (), bool(n % 2)) for n in range(40)]
    scores = [p.score for p in BagOfBigrams().fit(train).predict(train[:2])]
    assert scores[1] > 0.5 > scores[0]
    assert BagOfWords().fit(train).predict(train[:1])[0].score == pytest.approx(0.5)


def test_context_counts_only_when_asked_and_apart_from_the_response():
    train = [
        Example(f"{n}", Turn("", "right"), (Turn("", "it rained" if n % 2 else "it shone"),), bool(n % 2))
        for n in range(40)
    ]
    assert BagOfWords(turns=1).fit(train).predict(train[1:2])[0].score > 0.51
    assert BagOfWords().fit(train).predict(train[1:2])[0].score == pytest.approx(0.5)


def test_min_count_drops_rare_words():
    assert "7" not in BagOfWords(min_count=5).fit(TRAIN).vocabulary_
    with pytest.raises(DataError, match="min_count"):
        BagOfWords(min_count=1000).fit(TRAIN)


def test_one_label_only_is_an_error():
    with pytest.raises(DataError, match="both labels"):
        BagOfWords().fit([e for e in TRAIN if e.label])


def test_a_detector_comes_back_from_disk_the_same(tmp_path):
    detector = Detector("bigrams", min_count=2).fit(TRAIN)
    detector.save(tmp_path / "m")
    texts = ["oh sure", "fine", "", "never seen"]
    assert (Detector.load(tmp_path / "m").predict_proba(texts) == detector.predict_proba(texts)).all()


def test_a_changed_model_is_refused(tmp_path):
    Detector("bow").fit(TRAIN).save(tmp_path / "m")
    (tmp_path / "m" / "ngrams.json").write_text("{}")
    with pytest.raises(ModelError, match=r"ngrams\.json: changed"):
        Detector.load(tmp_path / "m")
    with pytest.raises(ModelError, match="no detector here"):
        Detector.load(tmp_path)


@pytest.mark.slow
@pytest.mark.real_corpora
@pytest.mark.parametrize(("system", "published"), [(BagOfWords, 0.759), (BagOfBigrams, 0.765)])
def test_the_papers_figures_on_pol(real_corpora, system, published):
    from deadpan.splits import folds
    from deadpan.stats import score_predictions

    examples = read_dataset("sarc-pol", real_corpora).examples
    predictions = []
    for fold in folds(examples, k=5, seed=0):
        predictions += system(seed=0).fit(fold.train).predict(fold.test)
    score = score_predictions(examples, predictions).scores["pair_accuracy"].value
    # One split is off by half a point either way; benchmarks/sarc.py takes the mean of five.
    assert abs(score - published) < 0.015
