"""A language model as judge: it marks explanations by a published rubric."""

from __future__ import annotations

import re

from deadpan.bench.items.prompts import RUBRIC, TEMPLATES
from deadpan.bench.runs.settings import PosedItem
from deadpan.records import Item

PASS = 2
"""The lowest mark that counts as right."""


def judge_prompt(item: Item, explanation: str) -> str:
    """Return the prompt for the judge. The explanation is on one line, so it cannot pose as the rubric."""
    return TEMPLATES[RUBRIC, "en"].format(
        context="\n".join(turn.text for turn in (*item.context, *item.after)),
        speaker=item.speaker or "The speaker",
        utterance=item.utterance,
        question=item.question,
        reference=item.options[item.answer],
        explanation=" ".join(explanation.split()) or "(none)",
    )


def posed_to_judge(item: Item, run: int, explanation: str) -> PosedItem:
    """Return an explanation as the judge is asked about it."""
    return PosedItem(item, run, tuple(range(6)), judge_prompt(item, explanation))


def read_mark(text: str) -> int | None:
    """Return the last `Mark: N`, or the mark of a reply that is nothing else; None if there is none."""
    marks = re.findall(r"mark[\s*]*[:：][\s*]*([012])(?!\d|\.\d)", text, re.IGNORECASE)
    if marks:
        return int(marks[-1])
    bare = re.fullmatch(r"[\s*]*([012])[\s*.]*", text)
    return int(bare[1]) if bare else None
