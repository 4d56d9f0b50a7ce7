"""Contrast sets: to the same dialogue a sincere response that shares words with the sarcastic one."""

from __future__ import annotations

import re

from deadpan.generate.caller import Malformed
from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.generate.ledger import Said
from deadpan.generate.script import in_language
from deadpan.llm import Message
from deadpan.records import Turn
from deadpan.text import fold

LEAST_SHARED = 0.25
"""Of the sarcastic response's words: below it, words alone tell the two apart."""
_QUOTES = '"“”‘’「」『』*_` '


def contrast_messages(language: Language, draft: Draft) -> list[Message]:
    """The question for one dialogue, with its two examples."""
    response = draft.response or Turn("", "")
    return language.prompts["sincere"].messages(
        dialogue=lines(draft.context), speaker=response.speaker, response=response.text
    )


def read_sincere(language: Language, draft: Draft, said: Said) -> str:
    """The sincere response; Malformed if it is the same, or shares too little to be a contrast."""
    written = [line.strip() for line in said.text.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Malformed("not_one_line", f"{len(written)} lines")
    labels = "|".join(re.escape(word) for word in language.facts.words.sincere)
    found = re.fullmatch(
        rf"[*_`\s]*(?:{labels})\s*(?:\([AB]\))?[*_`\s]*[:：]\s*(.*)", written[0], re.IGNORECASE
    )
    if not found:
        raise Malformed("no_sincere_response", written[0][:80])
    words = re.sub(r"^[AB]\s*[:：]\s*", "", found[1].strip(_QUOTES)).strip(_QUOTES)
    if not words:
        raise Malformed("empty_answer")
    sarcastic = draft.response.text if draft.response else ""
    if fold(words) == fold(sarcastic):
        raise Malformed("same_as_sarcastic")
    if shared_words(sarcastic, words) < LEAST_SHARED:
        raise Malformed("shares_too_little", words[:80])
    if not in_language([words], language.facts.letters, language.facts.common_words):
        raise Malformed("wrong_language", words[:80])
    return words


def shared_words(one: str, other: str) -> float:
    """The share of one text's words in the other. A word counts as there if its first two letters or more are
    the start of one there, and none shorter than its stem: Korean hangs particles on its nouns."""
    there = set(fold(other).split())
    words = set(fold(one).split())
    if not words:
        return 0.0
    return sum(any(_same_stem(word, each) for each in there) for word in words) / len(words)


def _same_stem(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.isascii() or other.isascii():
        return False
    least = min(len(one), len(other))
    return least >= 2 and one[:2] == other[:2]
