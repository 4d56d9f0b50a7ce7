"""Knowledge of the detectors in the package: the corpora they were taught by, and held-out scores by kind of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
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
        """Return the file."""
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
    if card is None:
        raise ConfigError(f"{detector}: only the detectors that come with the package have a card")
    return card
