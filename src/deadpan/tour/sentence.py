"""First stop: the visitor's own sentence, judged, with reasons and limits."""

from __future__ import annotations

import shlex

from deadpan.detect.detector import ENCODER, Detector, best_detector
from deadpan.detect.explanation import influence_chart
from deadpan.errors import ModelError
from deadpan.page import Table
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
    """Judge one sentence with the detector that `deadpan detect TEXT` uses, and say what the score depends on."""
    text = guide.text.strip() or SENTENCE
    name = best_detector(text)
    detector = Detector.load(name)
    guide.step("judging")
    explanation = detector.explain(text, model=name)
    first, *why = explanation.in_words()
    if explanation.score is None:
        raise ModelError(f"{first}: give deadpan tour a text in one of these")
    guide.page.text(f"{_ABOUT[name == ENCODER]} Leaving out phrases shows what its score depends on.")
    guide.page.conversation(explanation.example, explanation.label, note=first)
    for line in why:
        guide.page.note(line)
    if rows := tuple((piece.text, piece.push) for piece in explanation.words):
        title = "What each word pushes towards, in log odds"
        guide.page.figure(influence_chart(rows), title, Table(("word", "push, log odds"), rows))
    guide.page.heading("What it cannot know", 3)
    guide.page.bullets(ServedModel(name, detector, Batches(1)).limits())
    explanation.write_page(guide.out / "sentence.html")
    guide.artefact("Your sentence, word by word", guide.out / "sentence.html")
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    guide.found(f"“{shown}”: {first.rstrip('.')}, judged by its words alone.", f"deadpan detect {_quoted(text)}")


def _quoted(text: str) -> str:
    """Return a text as a shell takes it for one word; a long one is left to the reader to fill in."""
    if len(text) > _LONGEST:
        return '"..."'
    return shlex.quote(text) if set(text) & set('"\\$`!') else f'"{text}"'
