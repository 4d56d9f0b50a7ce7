"""A model's opinion on whether a dialogue makes sense; a person confirms what it finds."""

from __future__ import annotations

import re

from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.llm import Message, Unreadable


def abnormal_messages(language: Language, draft: Draft) -> list[Message]:
    """Return the prompt for one dialogue, with its three examples."""
    return language.prompts["abnormal"].messages(dialogue=lines(draft.turns))


def read_finding(language: Language, answer: str) -> str:
    """Return the reason if the model finds the dialogue abnormal, empty if normal; else it is Unreadable."""
    words = language.facts.words
    first = answer.strip().partition("\n")[0].strip(" *_`\"'“”")
    # The longer word first: "abnormal" holds "normal".
    choices = sorted([(w, True) for w in words.abnormal] + [(w, False) for w in words.normal], key=_longest)
    for word, abnormal in choices:
        if match := re.match(
            rf"(?:[^:：]{{0,20}}[:：]\s*)?{re.escape(word)}(?!\w)[\s*_`.:：–—-]*(.*)", first, re.I
        ):
            return (match[1].strip() or word) if abnormal else ""
    raise Unreadable("no_finding", first[:80])


def _longest(choice: tuple[str, bool]) -> int:
    return -len(choice[0])
