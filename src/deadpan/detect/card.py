"""Facts about detectors: their card (corpora, held-out scores by kind of text), their top features, and all systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from deadpan.detect import SYSTEMS
from deadpan.errors import ConfigError
from deadpan.formats.labels import label_words
from deadpan.page import Cell, Summary, Table
from deadpan.results import Result
from deadpan.storage import read_json

_PATH = Path(__file__).parent / "shipped" / "card.json"
MEASURED = {"auc": "AUC", "brier": "Brier", "decided": "decided", "balanced_accuracy": "right if decided"}
NO_TEXTS = (
    "Texts of a corpus: its training part, the held-out eighth included. The weights contain no texts. "
    "To train on corpora of your own choice: deadpan detect train."
)


@dataclass(frozen=True, slots=True, repr=False)
class Card(Result):
    """The file beside the weights; `facts` has the keys corpora, held_out, languages, calibrated_on, band and risk."""

    detector: str
    facts: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Card of {self.detector!r}: {len(self.facts.get('corpora', ()))} corpora>"

    def calibrated_on(self, language: str) -> str | None:
        """Return the kinds of text, in words, on which scores in a language are probabilities; None if on none."""
        told = _of_language(self.facts.get("calibrated_on"), language)
        return (told if isinstance(told, str) else listed(list(map(str, told)))) if told else None

    def risk(self, language: str) -> float | None:
        """Return the share of wrong answers among those given, outside the band in which it cannot tell."""
        told = _of_language(self.facts.get("risk"), language)
        return float(told) if isinstance(told, int | float) else None

    def summary(self) -> Summary:
        """Return the held-out scores by kind of text, then the corpora and their terms."""
        notes = []
        for language in self.facts.get("languages", ()):
            texts, risk = self.calibrated_on(language), self.risk(language)
            if texts is None:
                continue
            told = "" if risk is None else f"; {risk:.0%} of the answers it gives are wrong"
            notes.append(f"{NAMES_OF_LANGUAGES.get(language, language)}: calibrated on {texts}{told}.")
        tables = [_by_texts(self.facts.get("held_out", ())), _table(self.facts.get("corpora", ()))]
        return Summary(tuple(table for table in tables if table.rows), (*notes, NO_TEXTS))

    def as_dict(self) -> dict[str, object]:
        return {"detector": self.detector, **self.facts}


NAMES_OF_LANGUAGES = {"en": "English", "ko": "Korean", "ar": "Arabic"}


def _of_language(told: Any, language: str) -> Any:
    return told.get(language) if isinstance(told, Mapping) else told


def _by_texts(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the held-out scores by kind of text: means over corpora, weighted by their numbers of texts."""
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        kinds.setdefault((str(row.get("texts", "")), str(row.get("language", ""))), []).append(row)
    cells: list[tuple[Cell, ...]] = []
    for (texts, language), group in kinds.items():
        means: list[Cell] = []
        for name in MEASURED:
            known = [(float(row[name]), int(row["n"])) for row in group if row.get(name) is not None]
            total = sum(n for _, n in known)
            means.append(round(sum(value * n for value, n in known) / total, 3) if total else None)
        cells.append((texts, language, sum(int(row["n"]) for row in group), *means))
    cells.sort(key=lambda row: -float(str(row[3] or 0)))
    return Table(("held-out texts", "language", "n", *MEASURED.values()), tuple(cells))


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells: list[tuple[Cell, ...]] = [tuple(row.get(name) for name in columns) for row in rows]
    return Table(tuple(name.replace("_", " ") for name in columns), tuple(cells))


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


@cache
def read_card(detector: str) -> Card | None:
    """Return the card of a detector in the package; None where it has none."""
    if not _PATH.is_file():
        return None
    facts = read_json(_PATH)
    # The facts of each detector are under its name; what is beside them holds for all.
    shared = {key: value for key, value in facts.items() if not (isinstance(value, Mapping) and "held_out" in value)}
    return Card(detector, {**shared, **facts.get(detector, {})})


def need_card(detector: str) -> Card:
    """Return the card of a detector; that there is none is an error."""
    card = read_card(detector)
    if card is None or "held_out" not in card.facts:
        raise ConfigError(f"{detector}: only the detectors of the package have a card: base, encoder or auto")
    return card


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
        return {"sarcastic": [list(pair) for pair in self.sarcastic], "sincere": [list(pair) for pair in self.sincere]}


def top_features(name: str, top: int = 10) -> TopFeatures:
    """Return the features of a saved detector with the largest weights on either side."""
    from deadpan.detect.detector import Detector

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
        rows = tuple((info.name, info.about, info.state) for info in self.systems)
        return Summary((Table(("system", "description", "state"), rows),))

    def as_dict(self) -> dict[str, object]:
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
