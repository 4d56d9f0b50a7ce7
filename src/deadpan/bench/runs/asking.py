"""The contract of every kind of model: it gets a posed item and gives an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from deadpan.bench.items.prompts import ZERO_SHOT, options_order, render_prompt
from deadpan.llm import Answer, LLMSettings, Message, StopReason, Usage
from deadpan.records import Item


@dataclass(frozen=True, slots=True)
class PosedItem:
    """One item in one run, as the model sees it."""

    item: Item
    run: int
    order: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer of a model. Tokens are 0 where the provider does not report them."""

    text: str
    stop_reason: StopReason = "stop"
    returned: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    counted: bool = True
    """True if the provider reported token counts; without them the cost is unknown."""


@runtime_checkable
class Answerer(Protocol):
    """Something that answers items without a server, such as a baseline.

    It raises `Failed` where a retry may help, else a DeadpanError.
    """

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Make one attempt."""
        ...


class ItemTransport:
    """A `Transport` around an `Answerer`: it finds the item that a prompt and a run stand for."""

    def __init__(self, answerer: Answerer, posed: Sequence[PosedItem]) -> None:
        self.answerer = answerer
        self.posed = {(each.prompt, each.run): each for each in posed}

    async def send(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> Answer:
        """Make one attempt."""
        posed = self.posed[messages[-1]["content"], replicate]
        given = await self.answerer.ask(posed, settings.max_tokens or 0)
        usage = Usage(given.input_tokens, given.output_tokens, given.cached_tokens) if given.counted else None
        return Answer(given.text, given.stop_reason, usage, given.returned)

    def identity(self, settings: LLMSettings) -> str:
        """Return the name of the model."""
        return settings.model

    def check(self, settings: LLMSettings) -> None:
        """Do nothing: nothing can be missing."""

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def posed_items(
    items: Sequence[Item], runs: int, seed: int, shuffle: bool, template: str = ZERO_SHOT
) -> list[PosedItem]:
    """Return everything to ask. Runs of one item follow each other: a server can reuse its cache."""
    posed = []
    for item in items:
        for run in range(1, runs + 1):
            order = options_order(item, run, seed, shuffle)
            posed.append(PosedItem(item, run, order, render_prompt(item, order, template)))
    return posed
