"""Explanations: words and turns left out one at a time."""

from __future__ import annotations

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.explanation import Explanation, Influence, explain
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn
from detect_corpus import word_corpus


def test_the_word_that_decides_pushes_most():
    detector = Detector("bow").fit(word_corpus())
    explanation = explain(detector.predict, Example("x", Turn("", "red sure blue")))
    assert max(explanation.words, key=lambda word: word.push).text == "sure"
    assert explanation.label is True
    assert explanation.strongest()[0].text == "sure"
    assert "sure" in str(explanation)
    with pytest.raises(ConfigError, match="no word"):
        explain(detector.predict, Example("x", Turn("", "  ")))


def test_a_turn_that_is_read_can_push():
    detector = Detector("bow", turns=1).fit(word_corpus())
    example = Example("x", Turn("", "red"), (Turn("", "is it so"), Turn("", "when was that")))
    assert abs(explain(detector.predict, example).context[-1].push) > 0.01


def explained(label: bool | None, **pushes: float) -> list[str]:
    words = tuple(Influence(word, push) for word, push in pushes.items())
    text = " ".join(pushes)
    return Explanation(Example("x", Turn("", text)), label, 0.5, words, ()).in_words()


def test_reasons_are_words_that_say_something():
    assert explained(True, the=1.0, printer=0.5, of=-1.0) == ["Words that speak for sarcasm: “printer”."]
    assert explained(None, the=1.0, it=-1.0) == ["No single word decides, but how they go together."]


def test_words_against_the_answer_are_named_only_if_they_are_strong():
    assert explained(False, thanks=0.2, dinner=-0.2) == ["Words that speak against sarcasm: “dinner”."]
    assert len(explained(False, thanks=0.4, dinner=-0.2)) == 2
    assert len(explained(None, thanks=0.2, dinner=-0.2)) == 2


def test_a_word_is_named_without_its_punctuation():
    words = (Influence("Great,", 0.4), Influence("great!", 0.6), Influence("...", 0.3))
    told = Explanation(Example("x", Turn("", "Great, great! ...")), True, 0.9, words, ()).in_words()
    assert told == ["Words that speak for sarcasm: “great”, “Great”, “...”."]
