"""First stop: the visitor's own sentence, judged, with reasons and limits."""

from __future__ import annotations

import shlex

from deadpan.detect.detector import ENCODER, Detector, best_detector
from deadpan.detect.explanation import explain, influence_chart
from deadpan.errors import ModelError
from deadpan.formats.labels import label_word
from deadpan.page import Table
from deadpan.records import Example, Turn
from deadpan.serve.catalogue import Batches, ServedModel
from deadpan.tour.guide import Guide

SENTENCE = "Oh great, another meeting that could have been an email."
_ABOUT = {
    True: "The detector `encoder` in the package reads English with weights that were pulled separately.",
    False: "A detector comes with the package.",
}
_LONGEST = 200
"""Characters of a text that is repeated in a command."""


def stop(guide: Guide) -> None:
    """Judge one sentence with the detector that `deadpan detect TEXT` uses, and say what moved the score."""
    text = guide.text.strip() or SENTENCE
    name = best_detector(text)
    detector = Detector.load(name)
    guide.step("judging")
    example = Example("sentence", Turn("", text))
    (prediction,) = detector.predict([example])
    served = ServedModel(name, detector, Batches(detector.predict, 1))
    word, meaning = label_word(prediction) or "no answer", served.meaning(prediction).rstrip(".")
    if prediction.score is None:
        raise ModelError(f"{meaning}: give deadpan tour a text in one of these")
    explanation = explain(detector, example, prediction=prediction, model=name)
    guide.page.text(f"{_ABOUT[name == ENCODER]} Leaving out one word at a time shows what its score depends on.")
    guide.page.conversation(example, prediction.label, note=meaning)
    rows = tuple((piece.text, piece.push) for piece in explanation.words)
    top = explanation.strongest(1)
    title = f"“{top[0].text}” moves it most, in log odds" if top else "No single word moves it"
    guide.page.figure(influence_chart(rows), title, Table(("word", "push, log odds"), rows))
    guide.page.heading("What it cannot know", 3)
    guide.page.bullets(served.limits())
    explanation.write_page(guide.out / "sentence.html")
    guide.artefact("Your sentence, word by word", guide.out / "sentence.html")
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    guide.found(f"“{shown}”: {word}. {meaning}, judged by its words alone.", f"deadpan detect --words {_quoted(text)}")


def _quoted(text: str) -> str:
    """Return a text as a shell takes it for one word; a long one is left to the reader to fill in."""
    if len(text) > _LONGEST:
        return '"..."'
    return shlex.quote(text) if set(text) & set('"\\$`!') else f'"{text}"'
