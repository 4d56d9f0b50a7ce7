"""Answers to single questions: is this text sarcastic and why, which features weigh most, which systems there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec

from deadpan.detect import SYSTEMS
from deadpan.detect.detector import AUTO, BASE, ENCODER, Detector, best_detector
from deadpan.detect.explanation import Explanation
from deadpan.detect.system import System
from deadpan.errors import ConfigError
from deadpan.formats.labels import label_words
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.results import Result

BY_ENCODER = "Answered by `encoder`, the most accurate detector in the package for English."


def answer_text(
    text: str,
    *,
    context: Sequence[str] = (),
    detector: str = AUTO,
    prevalence: float | None = None,
    in_detail: bool = False,
) -> Explanation:
    """Label one text with a saved detector, and name the phrases and turns that its score depends on.

    `prevalence` is the share of sarcastic texts where it comes from; the score is for that share. "auto" is
    `encoder` for English where its weights have been pulled, and `base` elsewhere. `in_detail` shows every word.
    """
    if not text.strip():
        raise ConfigError("there is no word to judge: give a text, or lines with deadpan detect predict")
    name = best_detector(text, detector)
    loaded = load_at(name, prevalence)
    notes = [*_unread(loaded, text, context), *([BY_ENCODER] if name == ENCODER else [])]
    return loaded.explain(text, context=context, model=name, notes=notes, in_detail=in_detail)


def load_at(name: str, prevalence: float | None) -> Detector:
    """Load a detector; with a prevalence, its scores are for that share of sarcastic texts."""
    detector = Detector.load(name)
    return detector if prevalence is None else detector.at(prevalence)


def _unread(detector: Detector, text: str, context: Sequence[str]) -> list[str]:
    """Return what of the text or its context the model did not read, if anything."""
    if context and detector.predictor.context.turns == 0:
        return ["The context was NOT read: this model reads the response only; train one that reads turns."]
    members = getattr(detector.predictor, "members_", [detector.predictor])
    limits = [limit for each in members if (limit := _longest(each)) is not None]
    if not limits or len(text.split()) <= min(limits):
        return []
    what = "this model" if len(limits) == len(members) else "the encoder in this model"
    return [f"Only the beginning of the text was read: {what} reads at most {min(limits)} words."]


def _longest(system: System) -> int | None:
    """Return how many tokens a system reads of a text; None for all of it."""
    limit: int | None = getattr(getattr(system, "options", None), "max_tokens", None)
    return limit


@dataclass(frozen=True, slots=True)
class TopFeatures(Result):
    """The n-grams or rules with the largest weights for sarcastic and for sincere (SARC's Table 3).

    For a detector of one `category`, they are those for it and against it.
    """

    sarcastic: tuple[tuple[str, float], ...]
    sincere: tuple[tuple[str, float], ...]
    category: str = ""

    def summary(self) -> Summary:
        """Return both lists side by side."""
        rows = []
        for place in range(max(len(self.sarcastic), len(self.sincere))):
            cells: list[str] = []
            for side in (self.sarcastic, self.sincere):
                cells += (side[place][0], f"{side[place][1]:+.2f}") if place < len(side) else ("", "")
            rows.append(tuple(cells))
        yes, no = label_words(self.category)
        return Summary((Table((yes, "weight", no, "weight "), tuple(rows)),))

    def as_dict(self) -> dict[str, object]:
        """Return both lists."""
        return {"sarcastic": [list(pair) for pair in self.sarcastic], "sincere": [list(pair) for pair in self.sincere]}


def top_features(name: str = BASE, top: int = 10) -> TopFeatures:
    """Return the features of a saved detector with the largest weights on either side."""
    detector = Detector.load(name)
    features = getattr(detector.predictor, "top_features", None)
    if features is None:
        raise ConfigError(f"{name}: this system has no features with weights; explain a text instead")
    sarcastic, sincere = features(top)
    return TopFeatures(tuple(map(tuple, sarcastic)), tuple(map(tuple, sincere)), detector.category)


@dataclass(frozen=True, slots=True)
class SystemInfo:
    """A registered system, and the pip command that makes it usable where something is missing."""

    name: str
    about: str
    state: str


@dataclass(frozen=True, slots=True)
class SystemList(Result):
    """All registered systems."""

    systems: tuple[SystemInfo, ...]

    def summary(self) -> Summary:
        """Return a row per system."""
        rows = tuple((info.name, info.about, info.state) for info in self.systems)
        return Summary((Table(("system", "description", "state"), rows),))

    def as_dict(self) -> dict[str, object]:
        """Return the systems in order."""
        return {"systems": [asdict(info) for info in self.systems]}


def list_systems() -> SystemList:
    """Return every registered system, and whether what it needs is installed."""
    infos = []
    for name in SYSTEMS:
        system = SYSTEMS.load(name)
        missing = system.library and find_spec(system.library) is None
        state = f"needs the extra {system.extra}" if missing else "ready"
        infos.append(SystemInfo(name, system.about, state))
    return SystemList(tuple(infos))
