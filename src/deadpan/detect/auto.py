"""The detector in the box: for each text the better of the two that come with the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np

from deadpan.detect.detector import AUTO, DEFAULT, STUDENT, Detector
from deadpan.detect.languages import guess_language
from deadpan.detect.seen import SeenTexts
from deadpan.detect.system import System
from deadpan.detect.verdicts import Bands
from deadpan.errors import ConfigError
from deadpan.models import installed
from deadpan.records import Example, Prediction

STUDENT_LANGUAGE = "en"
STUDENT_NEEDS = ("safetensors", "tokenizers")
TRAINED = "the detectors that come with the package are trained already: load `student` or `default`"


def student_is_ready() -> bool:
    """Return True if the student's encoder has been pulled and what reads it is installed."""
    return "minilm-l6" in installed() and all(map(find_spec, STUDENT_NEEDS))


def best_model(text: str, model: str = AUTO) -> str:
    """Return the model itself, or for "auto" the student where it can read the text, else the default."""
    if model != AUTO:
        return model
    return STUDENT if guess_language(text) == STUDENT_LANGUAGE and student_is_ready() else DEFAULT


def auto_detector() -> Detector:
    """Return a detector that answers each text as `student` or as `default` would alone.

    The student reads English; where its encoder has not been pulled, the default detector answers everything.
    """
    default = Detector.load(DEFAULT)
    if not student_is_ready():
        return default
    student = Detector.load(STUDENT)
    detector = Detector(default.system)
    detector.system = AUTO
    detector.predictor = ByLanguage(student.predictor, default.predictor)
    detector.bands = _joined(student.bands, default.bands)
    known = [each.seen_.hashes for each in (student, default) if each.seen_ is not None]
    detector.seen_ = SeenTexts(np.unique(np.concatenate(known))) if known else None
    detector.classes_ = default.classes_
    return detector


def _joined(student: Bands | None, default: Bands | None) -> Bands | None:
    """Return the bands of the default detector with those of the student for its language."""
    if student is None or default is None or student.prevalence != default.prevalence:
        raise ConfigError("the detectors that come with the package do not fit: install deadpan again")
    mine = {STUDENT_LANGUAGE: student.languages[STUDENT_LANGUAGE]}
    scales = {name: scale for name, scale in default.scales.items() if name != STUDENT_LANGUAGE}
    scales |= {name: scale for name, scale in student.scales.items() if name == STUDENT_LANGUAGE}
    return replace(default, languages={**default.languages, **mine}, scales=scales)


class ByLanguage(System):
    """One system for English texts, another one for the rest."""

    about = "the detectors that come with the package"

    def __init__(self, english: System, other: System) -> None:
        super().__init__(turns=english.context.turns, speakers=english.context.speakers)
        self.english_, self.other_ = english, other

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the predictions of both systems, in the order of the examples."""
        sides: dict[bool, list[int]] = {True: [], False: []}
        for place, example in enumerate(examples):
            sides[guess_language(example.response.text) == STUDENT_LANGUAGE].append(place)
        said: dict[int, Prediction] = {}
        for is_english, places in sides.items():
            system = self.english_ if is_english else self.other_
            system.progress = self.progress
            said |= zip(places, system.predict([examples[place] for place in places]), strict=True)
        return [said[place] for place in range(len(examples))]

    def fit(self, examples: Sequence[Example]) -> Self:
        """Refuse: both systems are trained."""
        raise ConfigError(TRAINED)

    def save(self, folder: Path) -> None:
        """Refuse: it comes with the package."""
        raise ConfigError(TRAINED)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Refuse: it has no folder of its own."""
        raise ConfigError(TRAINED)
