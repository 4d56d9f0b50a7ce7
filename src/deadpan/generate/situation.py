"""What a dialogue is about: a theme and a summary in one line, read strictly."""

from __future__ import annotations

import re

from deadpan.generate.caller import Malformed
from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.generate.ledger import Said
from deadpan.generate.script import in_language
from deadpan.llm import Message

THEME_WORDS = 8
SUMMARY_CHARACTERS = 300
_DASH = re.compile(r"\s*[-–—]\s+|\s+[-–—]\s*")
_TIGHT_DASH = re.compile(r"[-–—]")
_WRAP = "*_`\"'“”‘’ \t"


def situation_messages(language: Language, draft: Draft) -> list[Message]:
    """The question for one dialogue, with its two examples."""
    return language.prompts["situation"].messages(dialogue=lines(draft.source))


def read_situation(language: Language, said: Said) -> tuple[str, str]:
    """(theme, summary) of `theme - summary`; Malformed says what else was written."""
    written = [line.strip() for line in said.text.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Malformed("not_one_line", f"{len(written)} lines")
    line = written[0].strip(_WRAP)
    for word in language.facts.words.situation:
        line = re.sub(rf"^{re.escape(word)}\s*[:：]\s*", "", line, flags=re.IGNORECASE)
    parts = _DASH.split(line, maxsplit=1)
    if len(parts) == 1:
        parts = _TIGHT_DASH.split(line, maxsplit=1)
    theme, summary = (part.strip(_WRAP) for part in parts) if len(parts) == 2 else ("", "")
    if not theme or not summary:
        raise Malformed("no_theme_or_summary", line[:80])
    if len(theme.split()) > THEME_WORDS or len(summary) > SUMMARY_CHARACTERS:
        raise Malformed("too_long", line[:80])
    if not in_language([summary], language.facts.letters, language.facts.common_words):
        raise Malformed("wrong_language", line[:80])
    return theme, summary
