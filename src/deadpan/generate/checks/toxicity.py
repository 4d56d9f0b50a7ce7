"""Toxic words: word lists, a trained model, or a moderation endpoint."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.config import read_config
from deadpan.errors import ConfigError, need
from deadpan.generate.language import Language
from deadpan.generate.plan import FilterPlan

Check = Callable[[Sequence[Sequence[str]]], list[str]]
"""From the texts of several dialogues to what is toxic in each, empty if nothing is. Several at a time,
because a trained model takes as long for one as for a hundred."""

FILLER = r"[0-9~!@#$%^&*.,_\-|:;']{0,2}"


@dataclass(frozen=True, slots=True)
class ToxicWords:
    """All of toxic.toml."""

    words: tuple[str, ...]


class WordList:
    """A language's own list of patterns, which also match disguised spellings."""

    def __init__(self, path: Path) -> None:
        patterns = read_config(path, ToxicWords).words
        try:
            self.pattern = re.compile(
                "|".join(f"(?:{p.replace('~', FILLER)})" for p in patterns), re.IGNORECASE
            )
        except re.error as bad:
            raise ConfigError(f"{path}: not a regular expression ({bad})") from None

    def __call__(self, dialogues: Sequence[Sequence[str]]) -> list[str]:
        return [self.find(texts) for texts in dialogues]

    def find(self, texts: Sequence[str]) -> str:
        """Return the first toxic word in some texts; empty if there is none."""
        for text in texts:
            # NFKC would turn the jamo of "ㅅㅂ" into another kind of jamo, so only widths are evened.
            if match := self.pattern.search(unicodedata.normalize("NFC", text)):
                return match[0]
        return ""


def profanity(share: float) -> Check:
    """Return a check by alt-profanity-check, a model of English comments, with this probability as limit."""
    library = need("profanity_check", "generate")

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        texts = [text for dialogue in dialogues for text in dialogue]
        scores = iter(library.predict_prob(texts).tolist() if texts else [])
        findings = []
        for dialogue in dialogues:
            worst, text = max((next(scores), text) for text in dialogue)
            findings.append(f"{worst:.2f}: {text[:60]}" if worst >= share else "")
        return findings

    return check


def safetext(language: Language) -> Check:
    """Return a check by the lists of safetext; not among our extras, because it brings GPL code (pysrt)."""
    if importlib.util.find_spec("safetext") is None:
        raise ConfigError(
            "toxicity has safetext, which is not installed: pip install safetext (it depends on GPL code)"
        )
    checker: Any = importlib.import_module("safetext").SafeText(language=language.code)

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        hits_per_dialogue = [
            [hit for text in texts for hit in checker.check_profanity(text=text)] for texts in dialogues
        ]
        return [str(hits[0]["word"]) if hits else "" for hits in hits_per_dialogue]

    return check


def chosen_checks(plan: FilterPlan, language: Language) -> tuple[str, ...]:
    """Return the checks of a plan; "auto" means the language's list and, for English, an installed model."""
    if plan.toxicity != "auto":
        return plan.toxicity
    here = ["words"] if language.toxic_words.is_file() else []
    if language.code == "en" and importlib.util.find_spec("profanity_check") is not None:
        here.append("profanity")
    return tuple(here)


def open_checks(
    names: Sequence[str], plan: FilterPlan, language: Language, moderate: Check | None
) -> list[Check]:
    """Return the checks by name. `moderate` calls an endpoint; the caller makes it from its settings."""
    checks: list[Check] = []
    for name in names:
        if name == "words":
            if not language.toxic_words.is_file():
                raise ConfigError(
                    f'{language.folder}: no toxic.toml in it: write one, or remove "words" from toxicity'
                )
            checks.append(WordList(language.toxic_words))
        elif name == "profanity":
            checks.append(profanity(plan.profanity_share))
        elif name == "safetext":
            checks.append(safetext(language))
        elif moderate is not None:
            checks.append(moderate)
    return checks
