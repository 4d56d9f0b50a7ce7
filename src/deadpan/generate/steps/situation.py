"""The situation of a dialogue: a theme and a summary in one line, parsed strictly."""

from __future__ import annotations

import re

from deadpan.generate.checks.script import in_language
from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.llm import Message, Unreadable

THEME_WORDS = 8
SUMMARY_CHARACTERS = 300
_DASH = re.compile(r"\s*[-–—]\s+|\s+[-–—]\s*")
_TIGHT_DASH = re.compile(r"[-–—]")
_WRAP = "*_`\"'“”‘’ \t"


def situation_messages(language: Language, draft: Draft) -> list[Message]:
    """Return the prompt for one source dialogue, with its two examples."""
    return language.prompts["situation"].messages(dialogue=lines(draft.source))


def read_situation(language: Language, answer: str) -> tuple[str, str]:
    """Return (theme, summary) of an answer `theme - summary`; anything else is Unreadable."""
    written = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Unreadable("not_one_line", f"{len(written)} lines")
    line = written[0].strip(_WRAP)
    for word in language.facts.words.situation:
        line = re.sub(rf"^{re.escape(word)}\s*[:：]\s*", "", line, flags=re.IGNORECASE)
    parts = _DASH.split(line, maxsplit=1)
    if len(parts) == 1:
        parts = _TIGHT_DASH.split(line, maxsplit=1)
    theme, summary = (part.strip(_WRAP) for part in parts) if len(parts) == 2 else ("", "")
    if not theme or not summary:
        raise Unreadable("no_theme_or_summary", line[:80])
    if len(theme.split()) > THEME_WORDS or len(summary) > SUMMARY_CHARACTERS:
        raise Unreadable("too_long", line[:80])
    if not in_language([summary], language.facts.letters, language.facts.common_words):
        raise Unreadable("wrong_language", line[:80])
    return theme, summary
