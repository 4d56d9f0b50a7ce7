"""What is asked of a model, and what comes back: the contract every kind of model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from deadpan.bench.prompts import ZERO_SHOT, options_order, render_prompt
from deadpan.records import Item


@dataclass(frozen=True, slots=True)
class Question:
    """One item in one run, as it is shown."""

    item: Item
    run: int
    order: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. Tokens are 0 where the provider does not count them."""

    text: str
    stop_reason: str = "stop"
    returned: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    counted: bool = True
    """Whether the provider said how many tokens there were; without that the cost is not known."""


class Answerer(Protocol):
    """Anything that can be asked. Raises `Failed` where another attempt may help, else a DeadpanError."""

    async def ask(self, question: Question, max_tokens: int) -> Reply:
        """One attempt."""
        ...


def questions(
    items: Sequence[Item], runs: int, seed: int, shuffle: bool, template: str = ZERO_SHOT
) -> list[Question]:
    """Everything to ask. An item's runs follow each other: a server that keeps its prompt reads it once."""
    asked = []
    for item in items:
        for run in range(1, runs + 1):
            order = options_order(item, run, seed, shuffle)
            asked.append(Question(item, run, order, render_prompt(item, order, template)))
    return asked
