"""Explanations: phrases and turns left out, and what is said about them."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from deadpan.datasets import read_dataset
from deadpan.detect.card import Card
from deadpan.detect.detector import Detector
from deadpan.detect.explanation import Explanation, Influence, explain, log_odds, meaning
from deadpan.detect.verdicts import Bands
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction, Turn
from detect_corpus import word_corpus


def test_the_word_that_decides_pushes_most():
    detector = Detector("bow").fit(word_corpus())
    explanation = detector.explain("red sure blue")
    assert max(explanation.words, key=lambda word: word.push).text == "sure"
    assert explanation.label is True
    assert explanation.strongest()[0].text == "sure"
    assert [phrase.text for phrase in detector.explain("red blue sure sure sure").phrases] == ["sure sure sure"]
    with pytest.raises(ConfigError, match="no word"):
        detector.explain("  ")


def test_what_is_told_of_a_phrase_is_the_score_without_it():
    detector = Detector.load("base")
    text = "Oh great, another meeting that could have been an email."
    explanation = detector.explain(text)
    assert explanation.phrases
    for phrase in explanation.phrases:
        assert phrase.text in text
        rest = text.replace(phrase.text, "", 1).strip()
        (alone,) = detector.predict_in("en", [Example("x", Turn("", rest))])
        assert alone.score == pytest.approx(phrase.without)
        assert phrase.push == pytest.approx(log_odds(explanation.score) - log_odds(phrase.without))


@pytest.mark.slow
def test_deleting_the_named_phrase_changes_the_score_more_than_a_random_one_of_its_length():
    detector = Detector.load("base")
    named, random = [], []
    for example in read_dataset("starter-en").examples[::12]:
        found = explain(detector, example)
        if not found.phrases or len(found.words) < 6:
            continue
        first, words = found.phrases[0], example.response.text.split()
        size = len(first.text.split())
        rests = [" ".join(words[:at] + words[at + size :]) for at in range(len(words) - size + 1)]
        scored = detector.predict_in("en", [Example("x", Turn("", rest), example.context) for rest in rests])
        named.append(abs(first.push))
        random.append(fmean(abs(log_odds(found.score) - log_odds(p.score)) for p in scored))
    assert len(named) > 20
    assert fmean(named) > 1.5 * fmean(random)


def test_a_turn_that_is_read_can_push():
    detector = Detector("bow", turns=1).fit(word_corpus())
    example = Example("x", Turn("", "red"), (Turn("", "is it so"), Turn("", "when was that")))
    (turn,) = explain(detector, example).context
    assert abs(turn.push) > 0.01
    assert detector.explain("red", context=["is it so", "when was that"]).context == (turn,)


def piece(text: str, push: float, score: float = 0.8) -> Influence:
    return Influence(text, push, 1 / (1 + math.exp(push - log_odds(score))))


def explained(label: bool | None, *phrases: Influence, context: tuple[Influence, ...] = ()) -> list[str]:
    prediction = Prediction("x", label, 0.8 if label else 0.2 if label is False else 0.5)
    words = tuple(piece(word, 0.0) for phrase in phrases or [piece("fine", 0)] for word in phrase.text.split())
    return Explanation(Example("x", Turn("", "a text")), prediction, words, phrases, context).reasons()


def test_the_first_reason_is_called_main_only_if_it_accounts_for_half():
    assert explained(True, piece("Oh great,", 1.0)) == [
        "Mostly because of “Oh great”: without it the score falls from 0.80 to 0.60."
    ]
    assert explained(True, piece("printer", 0.3))[0].startswith("Partly because of “printer”")
    assert explained(False, piece("thanks", -1.0, 0.2)) == [
        "Mostly because of “thanks”: without it the score rises from 0.20 to 0.40."
    ]


def test_a_phrase_against_the_answer_is_named_only_if_it_is_strong():
    assert len(explained(True, piece("fine", 0.5), piece("dinner", -0.2))) == 1
    assert explained(True, piece("fine", 0.5), piece("dinner", -0.5))[-1] == (
        "“dinner” (0.87 without it) points away from sarcasm."
    )


def test_where_it_cannot_tell_both_sides_are_named():
    told = explained(None, piece("so much", 0.5, 0.5), piece("help", -0.5, 0.5))
    assert told == [
        "“so much” (0.38 without it) points to sarcasm.",
        "“help” (0.62 without it) points away from sarcasm.",
    ]


def test_where_no_phrase_stands_out_none_is_named():
    assert explained(True, context=(piece("The bus is here.", 0.05),)) == [
        "No phrase decides alone; the words together do."
    ]
    assert explained(None) == ["A single word: how it was meant depends on what was said before."]
    detector = Detector("bow").fit(word_corpus())
    assert detector.explain("of the to in").phrases == ()


def test_links_markup_and_numbers_are_not_reasons():
    detector = Detector("bow").fit(word_corpus("42"))
    assert detector.explain("red 42 blue").strongest()[0].text == "42"
    assert all(phrase.text != "42" for phrase in detector.explain("red 42 blue").phrases)


def test_signs_that_steer_the_display_are_not_shown():
    assert "“Great”" in explained(True, piece("\u202eGreat\u200b", 0.9))[0]


def test_no_phrase_crosses_the_end_of_a_sentence():
    explanation = Detector.load("base").explain("The train was late again. What a surprise! I am shocked.")
    assert all("again. What" not in phrase.text for phrase in explanation.phrases)


def test_a_probability_is_told_only_with_the_texts_it_was_calibrated_on():
    bands, said = Bands(0.5, {"en": (0.4, 0.6)}), Prediction("x", True, 0.88)
    card = Card("base", {"calibrated_on": {"en": ["tweets", "Reddit replies"]}, "risk": {"en": 0.35}})
    assert meaning(said, None, None, "en").startswith("score 0.88") and "no probability" in meaning(
        said, None, None, "en"
    )
    assert meaning(said, bands, None, "en") == "score 0.88 where 50% of texts are sarcastic."
    assert "88% probable (calibrated on tweets and Reddit replies)" in meaning(said, bands, card, "en")
    assert "probable" not in meaning(said, bands, card, "ko")
    assert meaning(Prediction("x", True, 0.7), bands, card, "en").startswith("weak evidence, ")
    unsure = meaning(Prediction("x", None, 0.5), bands, card, "en")
    assert unsure == (
        "the score 0.50 is too close to call, between 0.40 and 0.60; even beyond it 35% of answers are wrong."
    )


def test_a_long_text_is_answered_without_phrases():
    answer = Detector.load("base").explain("so fine " * 150)
    assert not answer.words and "no phrases are named" in str(answer)
