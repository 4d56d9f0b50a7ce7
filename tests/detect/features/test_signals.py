"""Signals besides the words."""

from __future__ import annotations

import pytest

from deadpan.detect.features.grams import cut
from deadpan.detect.features.signals import NAMES, text_signals, word_signals


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
