"""The language of a short text, as far as a detector must know it: one it was trained for, or another.

Scripts tell most languages apart. Those in Latin letters are told by their most frequent words and by letters
that English does not have. A text with neither is told by how its words end: German and Romance suffixes, or
most words on a, o or i (then: another language); otherwise plain ASCII counts as English.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

from deadpan.text import strip_markers

NAMES = {
    "en": "English", "ko": "Korean", "ar": "Arabic", "de": "German", "fr": "French", "es": "Spanish",
    "it": "Italian", "pt": "Portuguese", "nl": "Dutch", "sv": "a Scandinavian language", "pl": "Polish",
    "tr": "Turkish", "id": "Indonesian", "vi": "Vietnamese", "fi": "Finnish", "ro": "Romanian",
    "cs": "Czech", "hu": "Hungarian", "sw": "Swahili", "tl": "Tagalog", "hi": "Hindi", "la": "Latin",
    "fa": "Persian or Urdu", "ja": "Japanese", "zh": "Chinese",
    "": "another language",
}  # fmt: skip
SCRIPTS = {"HANGUL": "ko", "ARABIC": "ar", "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "LATIN": "latin"}
_PERSIAN = set("پچژگکیٹڈڑںھہےۓ")
_FOREIGN = set("ßäöüåøæñ¿¡ãõąęłśźżćńşğıçěřůőűțșđơư")
_ENDINGS = {
    "de": re.compile("(ung|ungen|lich|liche|liches|licher|lichen|keit|heit|isch|ische|isches|ischer)$"),
    "it": re.compile("(zione|zioni|issim[oaie]|mente|ità|aggio|ezza|tore|trice)$"),
    "es": re.compile("(ción|ciones|idad|idades|ísim[oa]s?|miento|mientos|ito|ita|ados?|adas?)$"),
    "fr": re.compile("(eux|euse|eusement|ième|oire|ette|elle|eaux)$"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
MOST_READ = 2000
"""Characters of a text that are looked at."""
_LONE = re.compile("[a-zᄀ-ᇿ]")
"""Letters that are no word alone, unlike a Korean syllable."""
_NOISE = re.compile(r"https?://\S+|www\.\S+|\b[\w.-]+\.[a-z]{2,4}/\S*|[@#]\w+")
SYLLABLES = {"ko": 2, "ja": 2, "zh": 2}
"""Latin letters that a character stands for, at least: tags and links make Korean posts look Latin."""
PERSIAN_SHARE = 0.08
"""Share of letters that Arabic lacks; Arabic posts have a few of them, as ornaments or in names."""


def has_words(text: str) -> bool:
    """Return whether a text has words besides links, names and tags; one letter, or one repeated, is none."""
    letters = {c for c in _NOISE.sub(" ", _plain(text)).lower() if c.isalpha()}
    return len(letters) > 1 or any(not _LONE.match(letter) for letter in letters)


def guess_language(text: str) -> str:
    """Return a code of NAMES; empty for a language without one. A text without letters is English."""
    plain = _NOISE.sub(" ", _plain(text))
    scripts = Counter(_script(letter) for letter in plain if letter.isalpha())
    if not scripts:
        return "en"
    if scripts["ja"]:  # Japanese has Chinese characters too; a single kana may be a face
        scripts["ja"] += scripts.pop("zh", 0)
    script = max(scripts, key=lambda name: scripts[name] * SYLLABLES.get(name, 1))
    if script == "ar":
        return "fa" if sum(letter in _PERSIAN for letter in plain) > PERSIAN_SHARE * scripts["ar"] else "ar"
    return _latin(plain.lower().replace("’", "'")) if script == "latin" else script


def _plain(text: str) -> str:
    """Return the beginning without marks of sarcasm, full-width and ornamental letters as plain ones."""
    return unicodedata.normalize("NFKC", strip_markers(text[:MOST_READ])[0])


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((code for word, code in SCRIPTS.items() if name.startswith(word)), "")


@cache
def _frequent() -> dict[str, frozenset[str]]:
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in table.items()}


def _by_endings(words: list[str]) -> str:
    """Return a language by suffixes that are rare in English, "" for another one, "en" if none is seen."""
    long = [word for word in words if len(word) > 3]
    for language, endings in _ENDINGS.items():
        if sum(bool(endings.search(word)) for word in long if len(word) > 5) * 3 >= max(len(long), 1):
            return language
    on_vowels = [word for word in long if word[-1] in "aoi"]
    return "" if len(on_vowels) > 1 and len(on_vowels) > 0.6 * len(long) else "en"


def _latin(text: str) -> str:
    words = [word for word in _WORD.findall(text) if len(word) > 1]
    hits = {language: len(known & set(words)) for language, known in _frequent().items()}
    foreign = sum(letter in _FOREIGN for letter in text)
    if not any(hits.values()):
        language = _by_endings(words)
        return "" if foreign and language == "en" else language
    best = max(hits, key=lambda language: (hits[language], language == "en"))
    if hits["en"] >= hits[best] and hits["en"] * 2 >= foreign:
        return "en"
    return best if hits[best] else ""
