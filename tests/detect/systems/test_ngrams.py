"""Words, tokens and n-grams of texts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from deadpan.detect.systems.ngrams import GramWeights, cut, gram_names, run_keys, text_keys, token_grams, tokenise

words = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=8)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_names_and_keys_of_n_grams_agree(texts):
    rows, keys = token_grams(cut(texts), 3)
    for row, text in enumerate(texts):
        named = sorted({int(key[0]) for _, key in gram_names(text, 3)})  # every n-gram counts once per text
        assert sorted(keys[rows == row].tolist()) == named


def test_n_grams_know_where_a_text_starts_and_ends():
    names = [name for name, _ in gram_names("Oh, great.", 3)]
    assert names == ["oh", ",", "great", ".", "^ oh", "oh ,", ", great", "great .", ". $", "oh , great", ", great ."]


def test_links_and_users_are_all_alike_and_endless_words_are_cut():
    one, other = (cut(["@anna see https://a.org/x", "@bert see https://b.org/y"]).words, cut(["x" * 1000]).words)
    assert one == ["@user", "see", "http"]
    assert max(map(len, other)) == 64


@given(st.text(max_size=60))
def test_tokens_are_runs_of_one_kind(text):
    for token in tokenise(text):
        assert len({character.isalnum() for character in token}) == 1


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


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50, unique=True), st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_lookup_finds_what_is_there_and_nothing_else(known, asked):
    keys = np.array(sorted(known), dtype=np.uint64)
    weights = GramWeights(keys, np.ones(len(keys), np.float32), np.ones(len(keys), np.float32), 1.0)
    asked += known[:5]
    found, places = weights.lookup(np.array(asked, dtype=np.uint64))
    assert sorted(asked[at] for at in found) == sorted(each for each in asked if each in set(known))
    assert all(int(keys[place]) == asked[at] for at, place in zip(found, places, strict=True))
