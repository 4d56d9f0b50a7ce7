"""The steps that ask the model: the question for one draft, and the draft with its answer."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from deadpan.generate.dialogue import lines_of_json, only_line, prompt_values, read_dialogue
from deadpan.generate.folder import Draft, render_dialogue
from deadpan.generate.language import Language
from deadpan.llm import Message, Unreadable
from deadpan.llm.client import submit
from deadpan.records import Turn
from deadpan.text import fold

_T = TypeVar("_T")
_R = TypeVar("_R")

# Items started per worker: the others may run this far ahead of one slow answer.
_AHEAD = 4


class _Stopped(Exception):
    """Raised for an item that was not started because another one failed."""


def in_order(work: Callable[[_T], Coroutine[Any, Any, _R]], items: Iterable[_T], workers: int) -> Iterator[_R]:
    """Yield the result of each item. After an error no item is started, those in progress end, it is raised.

    The work runs on the loop of `deadpan.llm`, where the calls run: a thread for each item would spend
    more time switching than the call takes.
    """
    slots, stopped = asyncio.Semaphore(workers), False
    started: deque[Future[_R]] = deque()

    async def in_turn(item: _T) -> _R:
        async with slots:
            if stopped:
                raise _Stopped
            return await work(item)

    try:
        for item in items:
            started.append(submit(in_turn(item)))
            if len(started) >= workers * _AHEAD:
                yield started[0].result()
                started.popleft()
        while started:
            yield started[0].result()
            started.popleft()
    finally:
        stopped = True
        wait(started)


_THEME_WORDS = 8
_SUMMARY_CHARACTERS = 300
_DASH = re.compile(r"\s*[-–—]\s+|\s+[-–—]\s*")
_TIGHT_DASH = re.compile(r"[-–—]")
_WRAP = "*_`\"'“”‘’ \t"


def read_situation(language: Language, answer: str) -> tuple[str, str]:
    """Return (theme, summary) of an answer `theme - summary`; anything else is Unreadable."""
    line = only_line(answer).strip(_WRAP)
    for word in language.facts.words.situation:
        line = re.sub(rf"^{re.escape(word)}\s*[:：]\s*", "", line, flags=re.IGNORECASE)
    parts = _DASH.split(line, maxsplit=1)
    if len(parts) == 1:
        parts = _TIGHT_DASH.split(line, maxsplit=1)
    theme, summary = (part.strip(_WRAP) for part in parts) if len(parts) == 2 else ("", "")
    if not theme or not summary:
        raise Unreadable("no_theme_or_summary", line[:80])
    if len(theme.split()) > _THEME_WORDS or len(summary) > _SUMMARY_CHARACTERS:
        raise Unreadable("too_long", line[:80])
    if not language.matches([summary]):
        raise Unreadable("wrong_language", line[:80])
    return theme, summary


def read_finding(language: Language, answer: str) -> str:
    """Return the reason if the model finds the dialogue abnormal, empty if normal; else it is Unreadable."""
    words = language.facts.words
    first = answer.strip().partition("\n")[0].strip(" *_`\"'“”")
    # The longer word first: "abnormal" holds "normal".
    choices = [(word, True) for word in words.abnormal] + [(word, False) for word in words.normal]
    for word, abnormal in sorted(choices, key=lambda choice: -len(choice[0])):
        if match := re.match(rf"(?:[^:：]{{0,20}}[:：]\s*)?{re.escape(word)}(?!\w)[\s*_`.:：–—-]*(.*)", first, re.I):
            return (match[1].strip() or word) if abnormal else ""
    raise Unreadable("no_finding", first[:80])


# Smallest share of the sarcastic response's words; below it, words alone tell the two apart.
_MIN_SHARED = 0.25
_QUOTES = '"“”‘’「」『』*_` '


def read_sincere(language: Language, draft: Draft, answer: str) -> str:
    """Return the sincere response; one that is identical or shares too few words is Unreadable."""
    line = only_line(answer)
    labels = "|".join(re.escape(word) for word in language.facts.words.sincere)
    match = re.fullmatch(rf"[*_`\s]*(?:{labels})\s*(?:\([AB]\))?[*_`\s]*[:：]\s*(.*)", line, re.IGNORECASE)
    if not match:
        raise Unreadable("no_sincere_response", line[:80])
    words = re.sub(r"^[AB]\s*[:：]\s*", "", match[1].strip(_QUOTES)).strip(_QUOTES)
    if not words:
        raise Unreadable("empty_answer")
    sarcastic = draft.response.text if draft.response else ""
    if fold(words) == fold(sarcastic):
        raise Unreadable("same_as_sarcastic")
    if shared_words(sarcastic, words) < _MIN_SHARED:
        raise Unreadable("shares_too_little", words[:80])
    if not language.matches([words]):
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
    both = not one.isascii() and not other.isascii() and min(len(one), len(other)) >= 2
    return both and one[:2] == other[:2]


@dataclass(frozen=True, slots=True)
class AskedStep:
    """The prompt of a step, filled in for a draft, and the fields of the draft that its answer gives.

    `read` raises `Unreadable` for an answer that gives none. `keeps_unread`: a draft whose answer stays
    unreadable goes on without it, and is counted.
    """

    prompt: str
    values: Callable[[Language, Draft], Mapping[str, str]]
    read: Callable[[Language, Draft, str], Mapping[str, Any]]
    keeps_unread: bool = False

    def messages(self, language: Language, draft: Draft) -> list[Message]:
        """Return the question about one draft, after the examples of its prompt."""
        return language.prompts[self.prompt].messages(**self.values(language, draft))

    def add(self, language: Language, draft: Draft, answer: str) -> Draft:
        """Return the draft with the answer read into it."""
        return replace(draft, **self.read(language, draft, answer))


def _sincere_values(language: Language, draft: Draft) -> dict[str, str]:
    response = draft.response or Turn("", "")
    dialogue = render_dialogue(draft.context)
    return {"dialogue": dialogue, "speaker": response.speaker, "response": response.text}


def _dialogue_fields(language: Language, draft: Draft, answer: str) -> dict[str, Any]:
    new = read_dialogue(language, lines_of_json(answer, language))
    return {"context": new.context, "explanation": new.explanation, "response": new.response}


ASKED_STEPS: Mapping[str, AskedStep] = {
    "situation": AskedStep(
        "situation",
        lambda language, draft: {"dialogue": render_dialogue(draft.source)},
        lambda language, draft, answer: dict(zip(("theme", "summary"), read_situation(language, answer), strict=True)),
    ),
    "dialogue": AskedStep("dialogue", prompt_values, _dialogue_fields),
    "abnormal": AskedStep(
        "abnormal",
        lambda language, draft: {"dialogue": render_dialogue(draft.turns)},
        lambda language, draft, answer: {"suspect": read_finding(language, answer)},
        keeps_unread=True,
    ),
    "contrast": AskedStep(
        "sincere",
        _sincere_values,
        lambda language, draft, answer: {"sincere": read_sincere(language, draft, answer)},
        keeps_unread=True,
    ),
}
"""The question of every step of a plan that asks the model."""
