"""Signals besides the words."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.detect.system import Context
from deadpan.detect.systems.ngrams import cut
from deadpan.detect.systems.signals import NAMES, RUNS, STEADY, TOKENS, extract, lexicon, text_signals, word_signals
from deadpan.records import Example, Turn


def of(text: str, **more):
    return extract([Example("x", Turn("", text))], Context(), **more)


def test_a_repeated_sentence_has_the_n_grams_of_one():
    once, often = of("what a lovely day "), of("what a lovely day " * 50)
    seen, again = set(once.grams[TOKENS][1].tolist()), set(often.grams[TOKENS][1].tolist())
    assert seen <= again and len(again) <= len(seen) + 4  # those across the seam
    assert len(often.grams[TOKENS][1]) == len(again)
    assert often.cuts[RUNS].lengths.tolist() == once.cuts[RUNS].lengths.tolist() == [4]


def test_steady_signals_do_not_grow_with_the_text():
    once, often = of("Oh great, so lovely."), of("Oh great, so lovely. " * 50)
    assert once.dense.shape[1] == len(STEADY)
    assert np.allclose(once.dense, often.dense, atol=1e-6)


def test_signals_can_be_chosen():
    assert of("Oh great.", signals="none").dense.shape[1] == 0
    assert of("Oh great.", signals="all").dense.shape[1] > len(STEADY)


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
