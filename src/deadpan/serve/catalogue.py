"""The detectors that are served: loaded once, described, and asked in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.detect.answer import unsupported_words
from deadpan.detect.detector import AUTO, DEFAULT, SHIPPED, STUDENT, Detector, auto_detector, student_is_ready
from deadpan.detect.explanation import MOST_WORDS, Explanation, Influence, explain
from deadpan.detect.verdicts import MARKED, NAMES, NO_WORDS, at_prevalence, guess_language
from deadpan.errors import ConfigError
from deadpan.formats.labels import label_word
from deadpan.records import Example, Prediction
from deadpan.serve.batches import Batches
from deadpan.serve.refusals import Refusal
from deadpan.serve.settings import ServeSettings

GUESS = "The score is a statistical guess, not a fact about the speaker."
UNSEEN = "A detector knows neither the speaker, nor the tone of voice, nor the facts of the situation."
FEW = 50
"""Texts that are predicted at once for an explanation."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A detector under a name, with what can be said about it."""

    name: str
    detector: Detector
    batches: Batches

    @property
    def reads_context(self) -> bool:
        """True if turns before the response can change the score."""
        return self.detector.predictor.context.turns != 0

    def limits(self) -> list[str]:
        """Return what the detector cannot know, one sentence each."""
        lines = [GUESS, UNSEEN]
        if kind := self.detector.kind:
            lines.insert(0, f"It judges one kind only: sarcastic means {kind}, sincere means not {kind}.")
        if not self.reads_context:
            lines.insert(0, "It reads the last turn only: what was said before changes nothing.")
        if bands := self.detector.bands:
            lines.append(f"It knows {_listed([NAMES[language] for language in bands.languages])} only.")
        return lines

    def about(self) -> dict[str, Any]:
        """Return the description that /v1/models gives."""
        seen, bands = self.detector.seen_, self.detector.bands
        return {
            "id": self.name, "system": self.detector.system, "kind": self.detector.kind or None,
            "threshold": self.detector.threshold_, "cannot_tell": self._bands(),
            "prevalence": bands.prevalence if bands else None, "reads_context": self.reads_context,
            "trained_on_texts": None if seen is None else len(seen), "limits": self.limits(),
        }  # fmt: skip

    def _bands(self) -> dict[str, list[float]] | None:
        """Return for each language the scores between which the label is "cannot tell"; None: never."""
        bands = self.detector.bands
        if bands is None:
            return None
        return {language: self._band(language) for language in bands.languages}

    def _band(self, language: str) -> list[float]:
        bands = self.detector.bands
        found = bands.languages.get(language, ()) if bands else ()
        return [round(at_prevalence(score, bands.prevalence), 6) for score in found] if bands else []

    def meaning(self, prediction: Prediction) -> str:
        """Return what the answer means in words: how probable sarcasm is at its score, and where."""
        bands, score = self.detector.bands, prediction.score
        if prediction.raw == MARKED:
            return f"The text is {MARKED}."
        if prediction.raw == NO_WORDS:
            return "There are no words in it, so the score is the share of all texts that are sarcastic."
        if score is None:
            told = unsupported_words(prediction, bands) if bands else "no answer could be read"
            return f"{told[0].upper()}{told[1:]}."
        if bands is None:
            return f"{score:.2f} on a scale from 0 to 1."
        return f"Sarcasm is {score:.0%} probable where {bands.prevalence:.0%} of texts are sarcastic."

    def explain(self, example: Example) -> Explanation | None:
        """Return the influence of each word and turn; None for a text that is too long to explain."""
        if len(example.response.text.split()) > MOST_WORDS:
            return None
        turns = self.detector.predictor.context.turns
        if turns:  # leaving out one of these brings the one before them into view
            example = replace(example, context=example.context[-turns - 1 :])
        try:
            return explain(self._in_pieces, example, model=self.name, kind=self.detector.kind)
        except ConfigError:  # an answer in words that could not be read
            return None

    def _in_pieces(self, examples: Sequence[Example]) -> list[Prediction]:
        """Predict a few texts at a time: for many, a detector may load a library that takes seconds."""
        pieces = (examples[start : start + FEW] for start in range(0, len(examples), FEW))
        return [prediction for piece in pieces for prediction in self.detector.predict(piece)]

    def explanation_json(self, example: Example, prediction: Prediction) -> Mapping[str, Any]:
        """Return what an answer means, where it cannot tell, and the words and turns with their pushes."""
        unexplained = prediction.raw in (MARKED, NO_WORDS)
        explanation = None if prediction.score is None or unexplained else self.explain(example)
        band = [] if unexplained else self._band(guess_language(example.response.text))
        return {
            "meaning": self.meaning(prediction), "cannot_tell": band or None,
            "words": _pushes(explanation.words) if explanation else None,
            "context": _pushes(explanation.context) if explanation else None,
        }  # fmt: skip


class Catalogue:
    """All served detectors by name; `auto` answers where a request names none."""

    def __init__(self, settings: ServeSettings) -> None:
        self.models: dict[str, ServedModel] = {}
        for word in (*_student(settings), DEFAULT, *settings.models):
            name, mark, folder = word.partition("=")
            path = folder if mark else word
            name = name if mark else (word if word in SHIPPED else Path(word).name)
            if name == AUTO or (name in self.models and word not in SHIPPED):
                raise ConfigError(f"two models are called {name!r}: write NAME={path}")
            self.models[name] = _served(name, Detector.load(path), settings)
        # Loaded again: a detector is used by one thread at a time.
        both = STUDENT in self.models
        self.auto = _served(AUTO, auto_detector(), settings) if both else self.models[DEFAULT]

    def find(self, name: str) -> ServedModel:
        """Return the model of that name, or refuse."""
        if name == AUTO:
            return self.auto
        if name not in self.models:
            known = ", ".join(self.models)
            raise Refusal(404, "unknown_model", f"no model {name[:60]!r}: choose from {known}", field="model")
        return self.models[name]


def _served(name: str, detector: Detector, settings: ServeSettings) -> ServedModel:
    return ServedModel(name, detector, Batches(detector.predict, settings.waiting))


def _student(settings: ServeSettings) -> tuple[str, ...]:
    """Return the better detector for English where it can be used; it comes first."""
    return (STUDENT,) if settings.student and student_is_ready() else ()


def prediction_json(prediction: Prediction) -> dict[str, Any]:
    """Return an answer as JSON: the label in words, the score, and the id it is for."""
    score = None if prediction.score is None else round(prediction.score, 6)
    return {"id": prediction.example_id, "label": label_word(prediction) or None, "score": score}


def _pushes(pieces: Sequence[Influence]) -> list[dict[str, Any]]:
    return [{"text": piece.text, "push": round(piece.push, 3)} for piece in pieces]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
