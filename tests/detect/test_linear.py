"""The parts of [linear]: the same numbers as a plain reading of what they claim to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from deadpan.detect.blocks import DenseBlock
from deadpan.detect.detector import Detector
from deadpan.detect.grams import cut, gram_names, token_grams, tokenise
from deadpan.detect.keys import run_keys, text_keys
from deadpan.detect.lexicon import lexicon
from deadpan.detect.linear import Linear
from deadpan.detect.logistic import fit_logistic, fit_scale, ranking
from deadpan.detect.signals import NAMES, text_signals, word_signals
from deadpan.detect.weights import GramWeights
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn

words = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=8)


@given(st.lists(st.lists(words, max_size=5), max_size=4))
def test_runs_of_characters_are_those_of_scikit_learn(texts):
    spaced = [" ".join(text).lower() for text in texts]
    distinct = sorted({word for text in spaced for word in text.split()})
    owner, keys = run_keys(distinct, 2, 5)
    counter = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5), lowercase=False).build_analyzer()
    for number, word in enumerate(distinct):
        ours = keys[owner == number]
        theirs = counter(word)
        assert len(ours) == len(theirs)
        assert len(set(ours.tolist())) == len(set(theirs))


@given(st.lists(st.text(max_size=12), max_size=20))
def test_equal_texts_have_equal_keys_and_others_others(texts):
    keys = text_keys(texts)
    for one, a in zip(texts, keys, strict=True):
        for other, b in zip(texts, keys, strict=True):
            assert (one == other) == (a == b)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_names_and_keys_of_n_grams_agree(texts):
    rows, keys = token_grams(cut(texts), 3)
    for row, text in enumerate(texts):
        named = sorted(int(key[0]) for _, key in gram_names(text, 3))
        assert sorted(keys[rows == row].tolist()) == named


def test_n_grams_know_where_a_text_starts_and_ends():
    names = [name for name, _ in gram_names("Oh, great.", 3)]
    assert names == [
        "oh",
        ",",
        "great",
        ".",
        "^ oh",
        "oh ,",
        ", great",
        "great .",
        ". $",
        "oh , great",
        ", great .",
    ]


def test_links_and_users_are_all_alike_and_endless_words_are_cut():
    one, other = (
        cut(["@anna see https://a.org/x", "@bert see https://b.org/y"]).words,
        cut(["x" * 1000]).words,
    )
    assert one == ["@user", "see", "http"]
    assert max(map(len, other)) == 64


@given(st.text(max_size=60))
def test_tokens_are_runs_of_one_kind(text):
    for token in tokenise(text):
        assert len({character.isalnum() for character in token}) == 1


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


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_ranking_is_the_area_under_the_curve(rows):
    margins, labels = np.array([float(m) for m, _ in rows]), np.array([label for _, label in rows])
    if labels.any() and not labels.all():
        assert ranking(margins, labels) == pytest.approx(roc_auc_score(labels, margins))


@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=50, unique=True),
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
)
def test_lookup_finds_what_is_there_and_nothing_else(known, asked):
    keys = np.array(sorted(known), dtype=np.uint64)
    weights = GramWeights(keys, np.ones(len(keys), np.float32), np.ones(len(keys), np.float32), 1.0)
    asked += known[:5]
    found, places = weights.lookup(np.array(asked, dtype=np.uint64))
    assert sorted(asked[at] for at in found) == sorted(each for each in asked if each in set(known))
    assert all(int(keys[place]) == asked[at] for at, place in zip(found, places, strict=True))


def signal(text: str, name: str) -> float:
    texts = cut([text])
    return float(text_signals(word_signals(texts.words), texts.flat, texts.lengths)[0, NAMES.index(name)])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I love this awful delay", "clash"),
        ("OH NO not again", "shouted"),
        ("well... sure", "dots"),
        ("soooo good", "stretched"),
        ("haha nice one", "laughter"),
        ("ㅋㅋㅋ 대박", "laughter"),
        ("so terrible", "strong_feeling"),
        ("not good", "denied_feeling"),
        ("oh, wonderful", "opens_with_call"),
        ("what a day!", "ends_exclaiming"),
        ("정말 최고네요", "good"),
    ],
)
def test_signals_see_what_they_are_named_for(text, name):
    assert signal(text, name) > 0
    assert signal("the table is by the door", name) == 0


def test_the_lexicon_feels_both_ways_and_knows_no_double():
    assert lexicon().look("LOVE!")[0] > 0 > lexicon().look("“terrible”")[0]
    assert lexicon().look("table") == (0.0, frozenset())
    assert "negate" in lexicon().look("don’t")[1]


def examples(count: int) -> list[Example]:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(count):
        label = bool(number % 2)
        said = " ".join(rng.choice(["alpha", "beta", "gamma", "delta"], 4)) + (" sure" if label else " yes")
        rows.append(Example(str(number), Turn("", said), label=label))
    return rows


def test_many_examples_are_learnt_from_in_parts_and_calibrated(monkeypatch):
    monkeypatch.setattr("deadpan.detect.linear.MANY", 150)
    monkeypatch.setattr("deadpan.detect.linear.TRIED_ON", 90)
    model = Linear().fit(examples(300))
    assert all(
        said.label == example.label
        for said, example in zip(model.predict(examples(300)), examples(300), strict=True)
    )
    assert model.telling(1)[0][0][0] in {"sure", "sure $"}


def test_made_small_it_still_knows_what_matters():
    model = Linear().fit(examples(200)).compact(30).calibrate(examples(200))
    assert all(len(weights.keys) <= 30 for weights in model.weights_.values())
    said = model.predict(examples(50))
    assert np.mean([p.label == e.label for p, e in zip(said, examples(50), strict=True)]) > 0.95


@pytest.mark.parametrize("bad", [{"strength": 0}, {"weighting": "loud"}, {"turns": -1}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ConfigError):
        Linear(**bad)


def test_an_unknown_setting_is_an_error_that_names_the_system():
    with pytest.raises(ConfigError, match="linear"):
        Detector("linear", depth=3)
