"""Languages to write in: a folder of prompts and words each. To add a language, add a folder."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from deadpan.errors import ConfigError
from deadpan.llm import Message, assistant, system, user
from deadpan.registry import unknown
from deadpan.storage import digest
from deadpan.validation import read_config

_PROMPT_FOLDER = Path(__file__).with_name("prompts")
_PRESET_FILE = "preset.toml"
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "situation": ("dialogue",),
    "dialogue": ("situation", "intimacy", "politeness_a", "politeness_b"),
    "abnormal": ("dialogue",),
    "sincere": ("dialogue", "speaker", "response"),
}
"""The names each prompt may use in braces."""
CANDIDATE_PROMPTS: Mapping[str, tuple[str, ...]] = {
    "scene": ("situation", "intimacy", "politeness_a", "politeness_b"),
    "response": ("dialogue", "speaker", "politeness"),
    "mood": ("dialogue",),
    "tone": ("response",),
}
"""Prompts of several candidates per dialogue; a folder without them writes one."""

_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """Labels of the parts of an answer. The prompts ask for the first of each; all are understood."""

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
    """The language's levels of politeness: the method that finds them, and their names."""

    method: Literal["none", "endings"] = "none"
    polite: str = "polite"
    plain: str = "plain"
    unknown: str = "unknown"


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """All of language.toml."""

    name: str
    letters: str
    words: AnswerWords
    common_words: tuple[str, ...] = ()
    mention: str = r"\b([AB])\b"
    characters: str = ""
    """Characters of a sentence before its end, as a class of a GBNF grammar without brackets and without
    the comma; empty: any."""
    sentence: int = 90
    """Characters of a sentence at most, in a grammar."""
    politeness: PolitenessWords = field(default_factory=PolitenessWords)

    def __post_init__(self) -> None:
        try:
            pattern = re.compile(self.mention)
        except re.error as bad:
            raise ConfigError(f"mention is not a regular expression ({bad})") from None
        if pattern.groups != 1:
            raise ConfigError("mention needs one group in round brackets, around the speaker's letter")


@dataclass(frozen=True, slots=True)
class StepPrompt:
    """Instructions, a template for the question, and a few examples with answers.

    `then` is a second question about the answer; an example answers it in `explanation`. With `inline` all of
    it is one message of the user, the examples numbered, and `question` is the last one if it differs from `ask`.
    """

    system: str
    ask: str
    examples: tuple[Mapping[str, str], ...]
    then: str = ""
    inline: bool = False
    question: str = ""
    choices: tuple[str, ...] = ()
    """The only answers of a back-check; the first of them speaks for sarcasm."""
    openers: tuple[str, ...] = ()
    """Frames of three in four candidates: fixed words, and dots for what the model fills in."""

    def messages(self, **values: str) -> list[Message]:
        """Return the instructions, the examples as turns of a conversation, then the question itself."""
        if self.inline:
            shown = [
                f"Example {number}. {_filled(self.ask, example)}\n{example['answer'].strip()}"
                for number, example in enumerate(self.examples, 1)
            ]
            parts = [_filled(self.system, values), *shown, _filled(self.question or self.ask, values)]
            return [user("\n\n".join(parts))]
        turns = [system(self.system.strip())]
        for example in self.examples:
            turns += [user(_filled(self.ask, example)), assistant(example["answer"].strip())]
            if self.then:
                turns += [user(_filled(self.then, example)), assistant(example["explanation"].strip())]
        return [*turns, user(_filled(self.ask, values))]

    def second(self, messages: list[Message], answer: str, **values: str) -> list[Message]:
        """Return the second question, after the first and its answer."""
        return [*messages, assistant(answer), user(_filled(self.then, values))]

    @property
    def needs(self) -> set[str]:
        """The names in braces."""
        texts = (self.ask, self.then, self.system if self.inline else "")
        return {name for text in texts for name in _BRACES.findall(text)}


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill a template; braces inside the values stay as they are."""
    return _BRACES.sub(lambda match: values[match[1]].strip(), template).strip()


@dataclass(frozen=True, slots=True)
class Language:
    """A language's folder, read and checked. A prompt of a preset comes from the preset's folder."""

    code: str
    folder: Path
    facts: LanguageFacts
    prompts: Mapping[str, StepPrompt]
    preset: Path | None = None

    @property
    def has_candidates(self) -> bool:
        """Return whether several candidates can be asked for."""
        return self.prompts.keys() >= CANDIDATE_PROMPTS.keys()

    @property
    def sources(self) -> Path:
        """The file of example dialogues to try the pipeline on."""
        return self.folder / "sources.jsonl"

    @property
    def toxic_words(self) -> Path:
        return self.folder / "toxic.toml"

    def matches(self, texts: Sequence[str]) -> bool:
        """Return whether texts are written in the language, by its letters and common words."""
        return matches_language(texts, self.facts.letters, self.facts.common_words)

    def fingerprint(self, names: Iterable[str]) -> dict[str, str]:
        """Return hashes of the given prompts, for a manifest."""
        return {name: digest(_file(name, self.folder, self.preset))[:16] for name in ("language", *names)}


@dataclass(frozen=True, slots=True)
class PromptPreset:
    """All of preset.toml: the language whose prompts the folder replaces in part, and its words for politeness."""

    language: str
    about: str
    politeness: PolitenessWords


def languages() -> list[str]:
    """Return the codes of the languages that come with deadpan."""
    return sorted(folder.name for folder in _PROMPT_FOLDER.iterdir() if (folder / "language.toml").is_file())


def presets() -> dict[str, PromptPreset]:
    """Return the other prompts that come with deadpan, by name."""
    folders = sorted(folder for folder in _PROMPT_FOLDER.iterdir() if (folder / _PRESET_FILE).is_file())
    return {folder.name: read_config(folder / _PRESET_FILE, PromptPreset) for folder in folders}


def load_language(code: str, folder: Path | None = None, preset: str = "") -> Language:
    """Read a language by its code, or from a folder of your own; a preset replaces some of its prompts."""
    if folder is None:
        if code not in languages():
            hint = "or give prompts = a folder of your own (deadpan generate plan --help)"
            raise ConfigError(f"{unknown('language', code, languages())}; {hint}")
        folder = _PROMPT_FOLDER / code
    elif not (folder / "language.toml").is_file():
        raise ConfigError(
            f"{folder}: no language.toml in it: start from a copy, deadpan generate plan NEW.toml --copy-prompts FOLDER"
        )
    replaced = _preset_folder(code, preset) if preset else None
    facts = read_config(folder / "language.toml", LanguageFacts)
    if preset:
        facts = replace(facts, politeness=presets()[preset].politeness)
    files = {name: _file(name, folder, replaced) for name in (*PROMPTS, *CANDIDATE_PROMPTS)}
    known = {**PROMPTS, **CANDIDATE_PROMPTS}
    prompts = {name: _prompt(path, known[name]) for name, path in files.items() if name in PROMPTS or path.is_file()}
    return Language(code, folder, facts, prompts, replaced)


def _preset_folder(code: str, name: str) -> Path:
    known = presets()
    if name not in known:
        raise ConfigError(unknown("preset", name, known))
    if known[name].language != code:
        raise ConfigError(f'the preset {name} is for language = "{known[name].language}", not "{code}"')
    return _PROMPT_FOLDER / name


def _file(name: str, folder: Path, preset: Path | None) -> Path:
    """Return the file of a prompt: the preset's if it has one, else the language's."""
    file = f"{name}.toml"
    return preset / file if preset is not None and (preset / file).is_file() else folder / file


def _prompt(path: Path, known: tuple[str, ...]) -> StepPrompt:
    prompt = read_config(path, StepPrompt)
    if strange := sorted(prompt.needs - set(known)):
        raise ConfigError(f"{path}: ask has {{{strange[0]}}}: it may have {', '.join(known)}")
    for number, example in enumerate(prompt.examples, 1):
        for name in (*sorted(prompt.needs), "answer", *(["explanation"] if prompt.then else [])):
            if not example.get(name, "").strip():
                raise ConfigError(f"{path}: example {number} has no {name}")
    return prompt


LETTERS_SHARE = 0.6
"""Smallest share of letters in the language's script; the rest may be brand names and the like."""
WORDS_SHARE = 0.08
"""Smallest share of common words: English prose has about 0.4, chat 0.15; German and French below 0.05."""
FEW_WORDS = 8

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def letters_share(text: str, letters: str) -> float | None:
    """Return the share of a text's letters in a script, by their Unicode names; None without letters."""
    letter_counts = {c: n for c, n in Counter(unicodedata.normalize("NFC", text)).items() if c.isalpha()}
    if not letter_counts:
        return None
    script = letters.upper()
    return sum(n for letter, n in letter_counts.items() if _is_of(letter, script)) / sum(letter_counts.values())


@lru_cache(20_000)  # a language's letters are few, and looking one up is slow
def _is_of(letter: str, script: str) -> bool:
    return unicodedata.name(letter, "").startswith(script)


def matches_language(texts: Sequence[str], letters: str, common_words: Sequence[str] = ()) -> bool:
    """Return whether every text has the script's letters, and all together the language's common words.

    A text without letters ("...?!") passes, and so do texts of fewer than FEW_WORDS words.
    """
    for text in texts:
        share = letters_share(text, letters)
        if share is not None and share < LETTERS_SHARE:
            return False
    words = [word.lower().replace("’", "'") for text in texts for word in _WORD.findall(text)]
    if not common_words or len(words) < FEW_WORDS:
        return True
    common = set(common_words)
    return sum(word in common for word in words) / len(words) >= WORDS_SHARE
