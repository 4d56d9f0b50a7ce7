"""Keys: hashes of texts and of character n-grams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from deadpan.detect.features.keys import run_keys, text_keys

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
