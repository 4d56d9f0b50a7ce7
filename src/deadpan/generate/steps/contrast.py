"""Contrast sets: a sincere response to the same dialogue that shares words with the sarcastic one."""

from __future__ import annotations

import re

from deadpan.generate.checks.script import in_language
from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.llm import Message, Unreadable
from deadpan.records import Turn
from deadpan.text import fold

LEAST_SHARED = 0.25
"""Smallest share of the sarcastic response's words; below it, words alone tell the two apart."""
_QUOTES = '"“”‘’「」『』*_` '


def contrast_messages(language: Language, draft: Draft) -> list[Message]:
    """Return the prompt for one dialogue, with its two examples."""
    response = draft.response or Turn("", "")
    return language.prompts["sincere"].messages(
        dialogue=lines(draft.context), speaker=response.speaker, response=response.text
    )


def read_sincere(language: Language, draft: Draft, answer: str) -> str:
    """Return the sincere response; one that is identical or shares too few words is Unreadable."""
    written = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Unreadable("not_one_line", f"{len(written)} lines")
    labels = "|".join(re.escape(word) for word in language.facts.words.sincere)
    match = re.fullmatch(
        rf"[*_`\s]*(?:{labels})\s*(?:\([AB]\))?[*_`\s]*[:：]\s*(.*)", written[0], re.IGNORECASE
    )
    if not match:
        raise Unreadable("no_sincere_response", written[0][:80])
    words = re.sub(r"^[AB]\s*[:：]\s*", "", match[1].strip(_QUOTES)).strip(_QUOTES)
    if not words:
        raise Unreadable("empty_answer")
    sarcastic = draft.response.text if draft.response else ""
    if fold(words) == fold(sarcastic):
        raise Unreadable("same_as_sarcastic")
    if shared_words(sarcastic, words) < LEAST_SHARED:
        raise Unreadable("shares_too_little", words[:80])
    if not in_language([words], language.facts.letters, language.facts.common_words):
        raise Unreadable("wrong_language", words[:80])
    return words


def shared_words(one: str, other: str) -> float:
    """Return the share of one text's words that the other has too.

    Words outside ASCII match if their first two characters do: Korean nouns carry particles.
    """
    there = set(fold(other).split())
    words = set(fold(one).split())
    if not words:
        return 0.0
    return sum(any(_same_stem(word, candidate) for candidate in there) for word in words) / len(words)


def _same_stem(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.isascii() or other.isascii():
        return False
    least = min(len(one), len(other))
    return least >= 2 and one[:2] == other[:2]
