"""What tokens cost, from a dated table: a price nobody knows is None, never a guess."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deadpan.llm.messages import Message, Usage
from deadpan.llm.settings import Settings

MILLION = 1_000_000
UNLIMITED_OUTPUT = 4_096  # tokens assumed of a call that sets no limit
BYTES_PER_TOKEN = 2  # low on purpose: an estimate that is too high stops early, one too low overspends
TOKENS_AROUND = 8  # of a message's role and its delimiters

_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, and the day somebody looked."""

    input: float
    output: float
    cached_input: float | None = None
    as_of: str = ""

    def cost(self, usage: Usage) -> float:
        """What a call cost."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cheap = self.input if self.cached_input is None else self.cached_input
        fresh = (usage.input_tokens - cached) * self.input
        return (fresh + cached * cheap + usage.output_tokens * self.output) / MILLION

    def estimate(self, messages: Sequence[Message], max_tokens: int | None) -> float:
        """What a call could cost at most, as far as one can tell before it is made."""
        size = sum(len(turn["content"].encode()) // BYTES_PER_TOKEN + TOKENS_AROUND for turn in messages)
        return self.cost(Usage(size, max_tokens or UNLIMITED_OUTPUT))


FREE = Price(0.0, 0.0, 0.0)


def find_price(settings: Settings) -> Price | None:
    """The price of a model: none for the embedded one, the user's own, the table's, or unknown."""
    if settings.embedded:
        return FREE
    if settings.price is not None:
        return Price(*settings.price)
    return lookup(settings.model)


def lookup(model: str) -> Price | None:
    """The table's price for a name as providers write it: with a vendor before it or a date after it."""
    table = price_table()
    name = model.removeprefix("openai/")
    for candidate in (name, name.rpartition("/")[2]):
        for form in (candidate, _DATED.sub("", candidate)):
            if form in table:
                return table[form]
    return None


@cache
def price_table() -> dict[str, Price]:
    """Every price we know, by model."""
    content = tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))
    return {
        name: Price(**row, as_of=vendor["as_of"])
        for vendor in content.values()
        for name, row in vendor["models"].items()
    }
