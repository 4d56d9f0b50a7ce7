"""Whether a dialogue makes sense, by a model's opinion: what it finds is for a person to confirm."""

from __future__ import annotations

import re

from deadpan.generate.caller import Malformed
from deadpan.generate.draft import Draft, lines
from deadpan.generate.language import Language
from deadpan.generate.ledger import Said
from deadpan.llm import Message


def abnormal_messages(language: Language, draft: Draft) -> list[Message]:
    """The question for one dialogue, with its three examples."""
    return language.prompts["abnormal"].messages(dialogue=lines(draft.turns))


def read_finding(language: Language, said: Said) -> str:
    """The reason if the model finds it abnormal, empty if normal; Malformed if it says neither."""
    words = language.facts.words
    first = said.text.strip().splitlines()[0].strip(" *_`\"'“”")
    # The longer word first: "abnormal" holds "normal".
    choices = sorted([(w, True) for w in words.abnormal] + [(w, False) for w in words.normal], key=_longest)
    for word, abnormal in choices:
        if found := re.match(
            rf"(?:[^:：]{{0,20}}[:：]\s*)?{re.escape(word)}(?!\w)[\s*_`.:：–—-]*(.*)", first, re.I
        ):
            return (found[1].strip() or word) if abnormal else ""
    raise Malformed("no_finding", first[:80])


def _longest(choice: tuple[str, bool]) -> int:
    return -len(choice[0])
