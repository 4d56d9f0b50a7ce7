"""Answers to single questions: is this text sarcastic, what speaks for it, and which systems there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec

from deadpan.detect import SYSTEMS
from deadpan.detect.detector import AUTO, BASE, ENCODER, NOT_CALIBRATED, SHIPPED, Detector, best_detector
from deadpan.detect.explanation import (
    GUESS,
    MOST_WORDS,
    Explanation,
    Influence,
    explain,
    score_words,
    side_names,
    verdict_name,
)
from deadpan.detect.system import System
from deadpan.detect.verdicts import MARKED, NAMES, NO_WORDS, Bands
from deadpan.errors import ConfigError
from deadpan.formats.labels import CANNOT_TELL, NOT_SUPPORTED
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.records import Example, Prediction, Turn
from deadpan.results import Result

NAMED = 5
LEAST_PUSH = 0.05
BY_ENCODER = "Answered by `encoder`, the better of the two detectors in the package for English."


def unsupported_words(prediction: Prediction, bands: Bands | None) -> str:
    """Return which language a text seems to be in, and which ones the detector knows."""
    looks = prediction.raw.partition(": ")[2]
    known = [NAMES[language] for language in (bands.languages if bands else ())]
    return f"this looks like {looks}; this detector knows {', '.join(known)}"


@dataclass(frozen=True, slots=True, repr=False)
class TextAnswer(Result):
    """A prediction for one text, and the words and turns with the largest influence on it."""

    prediction: Prediction
    model: str
    explanation: Explanation | None
    bands: Bands | None = None
    note: str = ""
    category: str = ""

    def __repr__(self) -> str:
        return f"<TextAnswer {self.answer!r}, score {self.prediction.score}>"

    @property
    def answer(self) -> str:
        """One of: sarcastic, not sarcastic, cannot tell, not supported; of one category: irony, not irony."""
        if self.prediction.label is None:
            return self.prediction.raw.partition(":")[0] if self.bands else CANNOT_TELL
        return verdict_name(self.prediction.label, self.category)

    @property
    def influences(self) -> tuple[Influence, ...]:
        """The words that moved the score most."""
        if self.explanation is None:
            return ()
        return tuple(word for word in self.explanation.strongest(NAMED, LEAST_PUSH))

    def summary(self) -> Summary:
        """Return the answer, what its score means, and the words and turns that moved it."""
        score, raw = self.prediction.score, self.prediction.raw
        if score is None:
            return Summary(notes=(self._unsupported() if self.bands else f"no answer could be read: {raw!r}",))
        if raw == NO_WORDS:
            return Summary(notes=(raw,))
        notes = [f"{self.answer}{score_words(score, self.bands)}"]
        if raw and self.prediction.label is not None:
            notes.append(f"The text is {raw}.")
        elif self.explanation is not None:
            notes += self.explanation.in_words()
        if self.note:
            notes.append(self.note)
        if self.model == ENCODER:
            notes.append(BY_ENCODER)
        if self.explanation is None:
            return Summary(notes=tuple(notes))
        option = f" --detector {self.model}" if self.model not in SHIPPED else ""
        option += ' --context "..."' * len(self.explanation.example.context)
        return Summary(notes=(*notes, f'Word by word: deadpan detect{option} --words "..."'))

    def _unsupported(self) -> str:
        return f"{NOT_SUPPORTED}: {unsupported_words(self.prediction, self.bands)}"

    def as_dict(self) -> dict[str, object]:
        """Return the answer, label, score and the words that moved it."""
        return {
            "answer": self.answer, "label": self.prediction.label, "score": self.prediction.score,
            "prevalence": self.bands.prevalence if self.bands else None, "model": self.model, "note": GUESS,
            "raw": self.prediction.raw,
            "moved": [{"text": word.text, "push": round(word.push, 3)} for word in self.influences],
        }  # fmt: skip


def answer_text(
    text: str, *, context: Sequence[str] = (), detector: str = AUTO, prevalence: float | None = None
) -> TextAnswer:
    """Label one text with a saved detector, and name the words and turns that moved its score.

    `prevalence` is the share of sarcastic texts where it comes from; the score is for that share. "auto" is
    `encoder` for English where its weights have been pulled, and `base` elsewhere.
    """
    if not text.strip():
        raise ConfigError("there is no word to judge: give a text, or lines with deadpan detect predict")
    name = best_detector(text, detector)
    loaded = load_at(name, prevalence)
    example = _example(text, context)
    (prediction,) = loaded.predict([example])
    explanation = None
    if prediction.score is not None and prediction.raw != MARKED and len(text.split()) <= MOST_WORDS:
        explanation = explain(loaded, example, prediction=prediction)
    note = _unread(loaded, text, context)
    if len(text.split()) > MOST_WORDS:
        note = f"{note} Longer than {MOST_WORDS} words: no single words are named.".strip()
    return TextAnswer(prediction, name, explanation, loaded.bands, note, loaded.category)


def load_at(name: str, prevalence: float | None) -> Detector:
    """Load a detector; with a prevalence, its scores are for that share of sarcastic texts."""
    detector = Detector.load(name)
    if prevalence is None:
        return detector
    if detector.bands is None:
        raise ConfigError(f"{name}: {NOT_CALIBRATED}")
    return detector.at(prevalence)


def explain_text(
    text: str, *, context: Sequence[str] = (), detector: str = AUTO, prevalence: float | None = None
) -> Explanation:
    """Explain the score that a saved detector gives to one text."""
    name = best_detector(text, detector)
    loaded = load_at(name, prevalence)
    return explain(loaded, _example(text, context), model=name, note=_unread(loaded, text, context))


def _example(text: str, context: Sequence[str]) -> Example:
    return Example("text", Turn("", text), tuple(Turn("", turn) for turn in context))


def _unread(detector: Detector, text: str, context: Sequence[str]) -> str:
    """Return what of the text or its context the model did not read, if anything."""
    if context and detector.predictor.context.turns == 0:
        return "The context was NOT read: this model reads the response only; train one with --turns."
    members = getattr(detector.predictor, "members_", [detector.predictor])
    limits = [limit for each in members if (limit := _longest(each)) is not None]
    if not limits or len(text.split()) <= min(limits):
        return ""
    what = "this model" if len(limits) == len(members) else "the encoder in this model"
    return f"Only the beginning of the text was read: {what} reads at most {min(limits)} words."


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
        no, yes = side_names(self.category)
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
