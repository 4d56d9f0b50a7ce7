"""One line that says which words moved the score of a text."""

from __future__ import annotations

from collections.abc import Callable

from deadpan.detect.detector import Detector
from deadpan.detect.explanation import MOST_WORDS, bare_word, explain
from deadpan.records import Example, Prediction

NAMED = 4
LEAST_PUSH = 0.05


def reasons(detector: Detector) -> Callable[[Example, Prediction], str]:
    """Return a function from an example and its prediction to the words with the largest pushes."""

    def reason(example: Example, prediction: Prediction) -> str:
        if prediction.score is None:
            return prediction.raw or "the answer could not be read"
        if len(example.response.text.split()) > MOST_WORDS:
            return f"longer than {MOST_WORDS} words: not explained"
        strongest = explain(detector.predict, example).strongest(NAMED, LEAST_PUSH)
        if not strongest:
            return "no single word moves the score"
        return ", ".join(f"{bare_word(piece.text)} {piece.push:+.1f}" for piece in strongest)

    return reason
