"""A language as deadpan writes it: a folder of prompts and words. Adding a language is adding a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from deadpan.config import read_config
from deadpan.errors import ConfigError
from deadpan.llm import Message, assistant, system, user
from deadpan.registry import unknown
from deadpan.storage import digest

FOLDER = Path(__file__).with_name("prompts")
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "situation": ("dialogue",),
    "dialogue": ("situation", "intimacy", "politeness_a", "politeness_b"),
    "abnormal": ("dialogue",),
    "sincere": ("dialogue", "speaker", "response"),
}
"""What each prompt may mention in braces."""

_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Words:
    """What an answer calls its parts. The first of each is what the prompts ask for; all are understood."""

    explanation: tuple[str, ...]
    response: tuple[str, ...]
    sincere: tuple[str, ...]
    situation: tuple[str, ...] = ("Situation",)
    normal: tuple[str, ...] = ("normal",)
    abnormal: tuple[str, ...] = ("abnormal",)

    def __post_init__(self) -> None:
        for name in ("explanation", "response", "sincere", "situation", "normal", "abnormal"):
            words = getattr(self, name)
            if not words or not all(word.strip() for word in words):
                raise ConfigError(f"{name} needs at least one word")


@dataclass(frozen=True, slots=True)
class PolitenessWords:
    """How the language's levels of politeness are told and called."""

    method: Literal["none", "endings"] = "none"
    polite: str = "polite"
    plain: str = "plain"
    unknown: str = "unknown"


@dataclass(frozen=True, slots=True)
class Facts:
    """All of language.toml."""

    name: str
    letters: str
    words: Words
    common_words: tuple[str, ...] = ()
    mention: str = r"\b([AB])\b"
    politeness: PolitenessWords = field(default_factory=PolitenessWords)

    def __post_init__(self) -> None:
        try:
            pattern = re.compile(self.mention)
        except re.error as bad:
            raise ConfigError(f"mention is no regular expression ({bad})") from None
        if pattern.groups != 1:
            raise ConfigError("mention needs one group in round brackets, around the speaker's letter")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions, a form for the question, and a few questions with their answers."""

    system: str
    ask: str
    examples: tuple[Mapping[str, str], ...]

    def messages(self, **values: str) -> list[Message]:
        """The instructions, the examples as turns of a conversation, then the question itself."""
        turns = [system(self.system.strip())]
        for example in self.examples:
            turns += [user(self._filled(example)), assistant(example["answer"].strip())]
        return [*turns, user(self._filled(values))]

    def _filled(self, values: Mapping[str, str]) -> str:
        """Only our own braces are filled: what stands in a text in braces is text."""
        return _BRACES.sub(lambda found: values[found[1]].strip(), self.ask).strip()

    @property
    def needs(self) -> set[str]:
        return set(_BRACES.findall(self.ask))


@dataclass(frozen=True, slots=True)
class Language:
    """A language's folder, read and checked."""

    code: str
    folder: Path
    facts: Facts
    prompts: Mapping[str, Prompt]

    @property
    def sources(self) -> Path:
        """A few dialogues to try the pipeline on."""
        return self.folder / "sources.jsonl"

    @property
    def toxic_words(self) -> Path:
        return self.folder / "toxic.toml"

    def fingerprint(self, names: Iterable[str]) -> dict[str, str]:
        """What the given prompts were, for a manifest."""
        return {name: digest(self.folder / f"{name}.toml")[:16] for name in ("language", *names)}


def languages() -> list[str]:
    """The languages that come with deadpan."""
    return sorted(folder.name for folder in FOLDER.iterdir() if (folder / "language.toml").is_file())


def load_language(code: str, folder: Path | None = None) -> Language:
    """A language by its code, or from a folder of one's own."""
    if folder is None:
        if code not in languages():
            hint = "or give prompts = a folder of your own (deadpan generate prompts --help)"
            raise ConfigError(f"{unknown('language', code, languages())}; {hint}")
        folder = FOLDER / code
    elif not (folder / "language.toml").is_file():
        raise ConfigError(f"{folder}: no language.toml in it; start from deadpan generate prompts --copy en")
    facts = read_config(folder / "language.toml", Facts)
    prompts = {name: _prompt(folder / f"{name}.toml", known) for name, known in PROMPTS.items()}
    return Language(code, folder, facts, prompts)


def _prompt(path: Path, known: tuple[str, ...]) -> Prompt:
    prompt = read_config(path, Prompt)
    if strange := sorted(prompt.needs - set(known)):
        raise ConfigError(f"{path}: ask has {{{strange[0]}}}: it may have {', '.join(known)}")
    for number, example in enumerate(prompt.examples, 1):
        for name in (*sorted(prompt.needs), "answer"):
            if not _said(example, name):
                raise ConfigError(f"{path}: example {number} has no {name}")
    return prompt


def _said(example: Mapping[str, Any], name: str) -> bool:
    return bool(example.get(name, "").strip())
