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
    explanation = explain(detector, Example("x", Turn("", "red sure blue")))
    assert max(explanation.words, key=lambda word: word.push).text == "sure"
    assert explanation.label is True
    assert explanation.strongest()[0].text == "sure"
    assert "sure" in str(explanation)
    with pytest.raises(ConfigError, match="no word"):
        explain(detector, Example("x", Turn("", "  ")))


def test_a_turn_that_is_read_can_push():
    detector = Detector("bow", turns=1).fit(word_corpus())
    example = Example("x", Turn("", "red"), (Turn("", "is it so"), Turn("", "when was that")))
    assert abs(explain(detector, example).context[-1].push) > 0.01


def explained(label: bool | None, **pushes: float) -> list[str]:
    words = tuple(Influence(word, push) for word, push in pushes.items())
    text = " ".join(pushes)
    return Explanation(Example("x", Turn("", text)), label, 0.5, words, ()).in_words()


def test_reasons_are_words_that_say_something():
    assert explained(True, the=1.0, printer=0.5, of=-1.0) == ["Words that point to sarcasm: “printer”."]
    assert explained(None, the=1.0, it=-1.0) == ["No single word decides; the words together do."]


def test_words_against_the_answer_are_named_only_if_they_are_strong():
    assert explained(False, thanks=0.2, dinner=-0.2) == ["Words that point away from sarcasm: “dinner”."]
    assert len(explained(False, thanks=0.4, dinner=-0.2)) == 2
    assert len(explained(None, thanks=0.2, dinner=-0.2)) == 2


def test_reasons_that_all_point_the_other_way_are_followed_by_a_word_on_the_rest():
    told = explained(False, fine=0.4, perhaps=0.0)
    assert told == ["Words that point to sarcasm: “fine”.", "That is not enough to call it sarcastic."]
    told = explained(True, thanks=-0.4, perhaps=0.0)
    assert told[-1] == "The words as a whole make it sarcastic."
    assert len(explained(None, fine=0.4)) == 1


def test_contractions_are_not_reasons():
    assert explained(True, **{"that's": 0.9, "great": 0.2}) == ["Words that point to sarcasm: “great”."]


def test_a_word_is_named_without_its_punctuation():
    words = (Influence("Great,", 0.4), Influence("great!", 0.6), Influence("...", 0.3))
    told = Explanation(Example("x", Turn("", "Great, great! ...")), True, 0.9, words, ()).in_words()
    assert told == ["Words that point to sarcasm: “great”, “Great”, “...”."]


def test_one_word_has_no_company():
    assert explained(None, Splendid=0.01) == ["A single word: how it was meant depends on what was said before."]


def test_links_markup_numbers_and_operators_are_not_reasons():
    pieces = ("<i>fine</i>", "https://example.org", "=", "42", "🙄", "!!", "نعم،")
    words = tuple(Influence(piece, 0.5) for piece in pieces)
    told = Explanation(Example("x", Turn("", " ".join(pieces))), True, 0.9, words, ()).in_words()
    assert told == ["Words that point to sarcasm: “🙄”, “!!”, “نعم”."]


def test_a_turn_against_the_answer_is_named_only_if_it_is_strong():
    def told(push: float) -> list[str]:
        turns = (Influence("The bus is here.", push),)
        words = (Influence("Thanks", -0.5),)
        return Explanation(Example("x", Turn("", "Thanks")), False, 0.2, words, turns).in_words()

    assert len(told(0.2)) == 1
    assert told(0.4)[0] == "What was said before, “The bus is here.”, makes sarcasm more likely."
    assert len(told(-0.2)) == 2


def test_signs_that_steer_the_display_are_not_shown():
    words = (Influence("\u202eGreat\u200b", 0.5),)
    told = Explanation(Example("x", Turn("", "Great")), True, 0.9, words, ()).in_words()
    assert told == ["Words that point to sarcasm: “Great”."]
