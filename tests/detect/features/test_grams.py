"""Words, tokens and n-grams of texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deadpan.detect.features.grams import cut, gram_names, token_grams, tokenise


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_names_and_keys_of_n_grams_agree(texts):
    rows, keys = token_grams(cut(texts), 3)
    for row, text in enumerate(texts):
        named = sorted({int(key[0]) for _, key in gram_names(text, 3)})  # every n-gram counts once per text
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
