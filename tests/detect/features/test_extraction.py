"""Features of the linear system: what repeats counts once, and length is no signal."""

from __future__ import annotations

import numpy as np

from deadpan.detect.context import Context
from deadpan.detect.features.extraction import RUNS, TOKENS, extract
from deadpan.detect.features.signals import STEADY
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
