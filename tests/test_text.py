"""Tokens, markers and conversations."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.records import Turn
from deadpan.text import fold, last_turns, plural, printable, render_turn, sarc_tokens, social_tokens, strip_markers


def official(text: str) -> list[str]:
    """SARC's split, character by character."""
    tokens = []
    for word in text.lower().split():
        token = word[0]
        for before, after in pairwise(word):
            if (unicodedata.category(before)[0] in "MPS") == (unicodedata.category(after)[0] in "MPS"):
                token += after
            else:
                tokens.append(token)
                token = after
        tokens.append(token)
    return tokens


@given(st.text(max_size=40))
def test_sarc_tokens_are_the_official_ones(text):
    assert sarc_tokens(text) == official(text)


def test_sarc_tokens_of_a_comment():
    assert sarc_tokens("I'm SO happy... :)") == ["i", "'", "m", "so", "happy", "...", ":)"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("see https://x.y/z?a=1, ok", ["see", "https://x.y/z?a=1,", "ok"]),
        ("@bob #NotReally don't e-mail", ["@bob", "#NotReally", "don't", "e-mail"]),
        ("fun :-) <3 ¯\\_(ツ)_/¯", ["fun", ":-)", "<3", "¯\\_(ツ)_/¯"]),
        ("👨‍👩‍👧🇰🇷👍🏽!", ["👨‍👩‍👧", "🇰🇷", "👍🏽", "!"]),
        ("진짜 좋네요 ㅋㅋㅋ...", ["진짜", "좋네요", "ㅋㅋㅋ", "..."]),
        ("what?!?!  3.5", ["what", "?!?!", "3.5"]),
        ("", []),
    ],
)
def test_social_tokens(text, tokens):
    assert social_tokens(text) == tokens


@given(st.text(max_size=40))
def test_social_tokens_lose_nothing_but_space(text):
    assert "".join(social_tokens(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "left", "found"),
    [
        ("so fun #sarcasm", "so fun", 1),
        ("so fun /s #not", "so fun", 2),
        ("#Irony is dead", "is dead", 1),
        ("I love it. /s\n", "I love it.", 1),
        ("great.../s", "great...", 1),
        ("5 m/s", "5 m/s", 0),
        ("and/s", "and/s", 0),
        ("</s", "</s", 0),
        ("#notagain #sarcasmic", "#notagain #sarcasmic", 0),
        ("/s is how they mark it", "/s is how they mark it", 0),
        ("keep  two spaces #tag", "keep  two spaces #tag", 0),
        ("#sarcasm", "", 1),
    ],
)
def test_strip_markers(text, left, found):
    assert strip_markers(text) == (left, found)


@given(st.text(alphabet="ab/s #not\n", max_size=20))
def test_stripping_twice_finds_nothing_more(text):
    assert strip_markers(strip_markers(text)[0])[1] == 0


def test_fold_makes_copies_equal():
    assert fold("RT @bob: So FUN!!! https://x.y #sarcasm") == fold("rt so fun")
    assert fold("so fun") != fold("no fun")


def test_printable_mends_half_characters_only():
    assert printable("a\ud800b") == "a\ufffdb"
    assert printable("\ud83d\ude00") == "😀"
    assert printable("한국어 😀") == "한국어 😀"


def test_the_last_turns_and_named_speakers():
    turns = (Turn("A", "one"), Turn("", "two"), Turn("A", "three"))
    assert last_turns(turns, None) == last_turns(turns, 9) == turns
    assert last_turns(turns, 1) == turns[2:] and last_turns(turns, 0) == ()
    assert [render_turn(turn) for turn in turns] == ["A: one", "two", "A: three"]


def test_vowel_signs_neither_split_a_word_nor_make_another_text():
    assert fold("كَلِمَة جَمِيلَة!") == fold("كلمة جميلة") == "كلمة جميلة"
    assert fold("جمـــيل") == fold("جميل")
    assert fold("שָׁלוֹם") == fold("שלום")
    assert fold("ça và") == "ça và"


def test_a_count_has_its_noun():
    assert (plural(1, "row"), plural(0, "row"), plural(1200, "row")) == ("1 row", "0 rows", "1,200 rows")
