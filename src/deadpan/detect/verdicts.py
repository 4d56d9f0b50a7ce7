"""Answers in three values: sarcastic, not sarcastic, cannot tell; none in languages nobody trained for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.languages import NAMES, guess_language, has_words
from deadpan.errors import ConfigError
from deadpan.formats.labels import CANNOT_TELL, NOT_SUPPORTED
from deadpan.records import Example, Prediction
from deadpan.text import strip_markers

MARKED = "marked as sarcastic by its author"
MARKED_SCORE = 0.99
NO_WORDS = f"{CANNOT_TELL}: there are no words in it"
EVEN = 0.5
_SPOKEN_OF = re.compile(r"#\w+(?=\s+(?:is|are|was|means|detection|detectors?|research|tags?|hashtags?)\b)")
"""A tag that is the subject of its sentence, as in "#sarcasm is hard to hear", marks nothing."""


def check_prevalence(prevalence: float) -> float:
    """Return a share of sarcastic texts if it is one: above 0, below 1."""
    if isinstance(prevalence, bool) or not isinstance(prevalence, int | float) or not 0 < prevalence < 1:
        raise ConfigError(f"prevalence {prevalence!r}: give the share of sarcastic texts, such as 0.14")
    return float(prevalence)


def at_prevalence(score: float, prevalence: float, known: float = EVEN) -> float:
    """Return a probability that holds where `known` of the texts are sarcastic for another prevalence."""
    if score in (0.0, 1.0):
        return score
    odds = score / (1 - score) * prevalence / (1 - prevalence) * (1 - known) / known
    return odds / (1 + odds)


def rescaled(score: float, slope: float, shift: float) -> float:
    """Return a probability whose log odds are multiplied by `slope` and moved by `shift`."""
    if score in (0.0, 1.0) or (slope, shift) == (1.0, 0.0):
        return score
    return float(1 / (1 + np.exp(-(slope * np.log(score / (1 - score)) + shift))))


@dataclass(frozen=True, slots=True)
class Bands:
    """For each language the two scores between which a detector cannot tell.

    They hold where half of the texts are sarcastic; scores that are shown hold for `prevalence`. A language
    without a band is not supported. `scales` are slope and shift of the log odds where a system's own scores
    are not calibrated.
    """

    prevalence: float
    languages: Mapping[str, tuple[float, float]]
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_prevalence(self.prevalence)
        for language, (low, high) in self.languages.items():
            if not 0 <= low <= high <= 1:
                raise ConfigError(f"band of {language}: 0 <= low <= high <= 1, got {low} and {high}")

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Read what `as_dict` returned."""
        bands = {str(name): (float(low), float(high)) for name, (low, high) in state["languages"].items()}
        scales = {str(name): (float(a), float(b)) for name, (a, b) in state.get("scales", {}).items()}
        return cls(float(state["prevalence"]), bands, scales)

    def as_dict(self) -> dict[str, object]:
        """Return the bands for a file."""
        return {
            "prevalence": self.prevalence,
            "languages": {name: list(band) for name, band in self.languages.items()},
            "scales": {name: list(scale) for name, scale in self.scales.items()},
        }

    def at(self, prevalence: float) -> Bands:
        """Return the same bands with scores for another prevalence."""
        return replace(self, prevalence=check_prevalence(prevalence))

    def judge(self, examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Prediction]:
        """Return answers for predictions whose scores hold for an even prevalence.

        The label is None where the detector cannot tell; `raw` says why. An answer never contradicts the
        score that is shown: where sarcasm is rare, more is needed to call a text sarcastic. A text without
        words has the prevalence as its score, one in a language without support has none.
        """
        return [self._judge(e, p) for e, p in zip(examples, predictions, strict=True)]

    def _judge(self, example: Example, prediction: Prediction) -> Prediction:
        text = example.response.text
        if strip_markers(_SPOKEN_OF.sub(" ", text))[1]:
            return Prediction(example.id, True, MARKED_SCORE, MARKED)
        if not has_words(text):
            return Prediction(example.id, None, self.prevalence, NO_WORDS)
        language = guess_language(text)
        if language not in self.languages:
            return Prediction(example.id, None, None, f"{NOT_SUPPORTED}: {NAMES.get(language, language)}")
        if prediction.score is None:
            return prediction
        low, high = self.languages[language]
        score = rescaled(prediction.score, *self.scales.get(language, (1.0, 0.0)))
        shown = at_prevalence(score, self.prevalence)
        if low < score < high or (score >= high and shown < EVEN) or (score <= low and shown > EVEN):
            return Prediction(example.id, None, shown, CANNOT_TELL)
        return Prediction(example.id, score >= high, shown)


def choose_band(
    labels: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    coverage: float = 0.7,
    plain: NDArray[np.float64] | None = None,
    calm: float = 0.97,
) -> tuple[float, float]:
    """Return the band that leaves out the scores nearest to the best threshold.

    `scores` are out-of-fold and hold for an even prevalence. The rest, `coverage` of both labels, is decided.
    `plain` are scores of everyday sentences that are not sarcastic: `calm` of them are not called so.
    """
    order = np.argsort(scores)
    ranked, truth = scores[order], labels[order]
    weight = np.where(truth, 0.5 / max(truth.sum(), 1), 0.5 / max((~truth).sum(), 1))
    quality = np.cumsum(np.where(truth, -weight, weight))
    middle = float(ranked[int(np.argmax(quality))])
    share = np.cumsum(weight)
    at = float(np.interp(middle, ranked, share))
    half = (1 - coverage) / 2
    low, high = (float(np.interp(np.clip(at + side, 0, 1), share, ranked)) for side in (-half, half))
    return low, high if plain is None else max(high, float(np.quantile(plain, calm)))
