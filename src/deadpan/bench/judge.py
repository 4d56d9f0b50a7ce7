"""A language model that marks explanations, by a rubric anybody can read."""

from __future__ import annotations

import re

from deadpan.bench.asking import Question
from deadpan.bench.prompts import RUBRIC, TEMPLATES
from deadpan.records import Item

PASS = 2
"""The mark that counts as right."""


def judge_prompt(item: Item, explanation: str) -> str:
    """What the judge reads. The explanation stands between its own lines, so it cannot pose as the rubric."""
    return TEMPLATES[RUBRIC, "en"].format(
        context="\n".join(turn.text for turn in item.context),
        speaker=item.speaker or "The speaker",
        utterance=item.utterance,
        question=item.question,
        reference=item.options[item.answer],
        explanation=" ".join(explanation.split()) or "(none)",
    )


def judge_question(item: Item, run: int, explanation: str) -> Question:
    """The same, as something to ask."""
    return Question(item, run, tuple(range(6)), judge_prompt(item, explanation))


def read_mark(text: str) -> int | None:
    """The last `Mark: N`, or a reply that is the mark alone; None where there is none."""
    found = re.findall(r"mark[\s*]*[:：][\s*]*([012])(?!\d|\.\d)", text, re.IGNORECASE)
    if found:
        return int(found[-1])
    bare = re.fullmatch(r"[\s*]*([012])[\s*.]*", text)
    return int(bare[1]) if bare else None
