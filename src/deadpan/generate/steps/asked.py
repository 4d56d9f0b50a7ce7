"""The steps that ask the model: the question for one draft, and the draft with its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from deadpan.generate.checks.abnormal import abnormal_messages, read_finding
from deadpan.generate.draft import Draft
from deadpan.generate.language import Language
from deadpan.generate.steps.contrast import contrast_messages, read_sincere
from deadpan.generate.steps.dialogue import dialogue_messages, read_dialogue
from deadpan.generate.steps.forms import lines_of_json
from deadpan.generate.steps.situation import read_situation, situation_messages
from deadpan.llm import Message


@dataclass(frozen=True, slots=True)
class AskedStep:
    """The prompt of a step and the reading of its answer.

    `add` returns the draft with the answer read into it, or raises `Unreadable`.
    `keeps_unread`: a draft whose answer stays unreadable goes on without it, and is counted.
    """

    messages: Callable[[Language, Draft], list[Message]]
    add: Callable[[Language, Draft, str], Draft]
    keeps_unread: bool = False


def _add_situation(language: Language, draft: Draft, answer: str) -> Draft:
    theme, summary = read_situation(language, answer)
    return replace(draft, theme=theme, summary=summary)


def _add_dialogue(language: Language, draft: Draft, answer: str) -> Draft:
    new = read_dialogue(language, lines_of_json(answer, language))
    return replace(draft, context=new.context, explanation=new.explanation, response=new.response)


def _add_finding(language: Language, draft: Draft, answer: str) -> Draft:
    return replace(draft, suspect=read_finding(language, answer))


def _add_contrast(language: Language, draft: Draft, answer: str) -> Draft:
    return replace(draft, sincere=read_sincere(language, draft, answer))


ASKED: Mapping[str, AskedStep] = {
    "situation": AskedStep(situation_messages, _add_situation),
    "dialogue": AskedStep(dialogue_messages, _add_dialogue),
    "abnormal": AskedStep(abnormal_messages, _add_finding, keeps_unread=True),
    "contrast": AskedStep(contrast_messages, _add_contrast, keeps_unread=True),
}
"""The implementation of every step in `order.ASKING`."""
