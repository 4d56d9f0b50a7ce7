"""Words that do not belong in a published data set: lists of our own, a trained model, or an endpoint."""

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
"""The texts of some dialogues -> for each what is toxic in it, empty if nothing is. Some at a time, since a
trained model takes as long for one as for a hundred."""

FILLER = r"[0-9~!@#$%^&*.,_\-|:;']{0,2}"


@dataclass(frozen=True, slots=True)
class ToxicWords:
    """All of toxic.toml."""

    words: tuple[str, ...]


class WordList:
    """A language's own list, with the spellings people use to get past lists."""

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
        """The first toxic word in some texts."""
        for text in texts:
            # NFKC would turn the jamo of "ㅅㅂ" into another kind of jamo, so only widths are evened.
            if found := self.pattern.search(unicodedata.normalize("NFC", text)):
                return found[0]
        return ""


def profanity(share: float) -> Check:
    """alt-profanity-check: a model of English comments; each text has a probability."""
    library = need("profanity_check", "generate")

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        texts = [text for dialogue in dialogues for text in dialogue]
        scores = iter(library.predict_prob(texts).tolist() if texts else [])
        found = []
        for dialogue in dialogues:
            worst, text = max((next(scores), text) for text in dialogue)
            found.append(f"{worst:.2f}: {text[:60]}" if worst >= share else "")
        return found

    return check


def safetext(language: Language) -> Check:
    """The lists of safetext, for those who have it: not among our extras, since it brings pysrt (GPL)."""
    if importlib.util.find_spec("safetext") is None:
        raise ConfigError(
            "toxicity has safetext, which is not installed: pip install safetext (it brings GPL code)"
        )
    checker: Any = importlib.import_module("safetext").SafeText(language=language.code)

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        found = [[hit for text in texts for hit in checker.check_profanity(text=text)] for texts in dialogues]
        return [str(hits[0]["word"]) if hits else "" for hits in found]

    return check


def chosen_checks(plan: FilterPlan, language: Language) -> tuple[str, ...]:
    """What "auto" comes to here: the language's list, and for English the model where it is installed."""
    if plan.toxicity != "auto":
        return plan.toxicity
    here = ["words"] if language.toxic_words.is_file() else []
    if language.code == "en" and importlib.util.find_spec("profanity_check") is not None:
        here.append("profanity")
    return tuple(here)


def open_checks(
    names: Sequence[str], plan: FilterPlan, language: Language, moderate: Check | None
) -> list[Check]:
    """The checks by name. `moderate` calls an endpoint and is made by the caller, who has its settings."""
    checks: list[Check] = []
    for name in names:
        if name == "words":
            if not language.toxic_words.is_file():
                raise ConfigError(f'{language.folder}: no toxic.toml in it; write one or leave out "words"')
            checks.append(WordList(language.toxic_words))
        elif name == "profanity":
            checks.append(profanity(plan.profanity_share))
        elif name == "safetext":
            checks.append(safetext(language))
        elif moderate is not None:
            checks.append(moderate)
    return checks
