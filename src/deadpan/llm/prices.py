"""Prices of tokens, from a dated table: an unknown price is None, never a guess."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.llm.messages import Message, Usage
from deadpan.llm.settings import LLMSettings
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

MILLION = 1_000_000
UNLIMITED_OUTPUT = 4_096  # tokens assumed of a call that sets no limit
BYTES_PER_TOKEN = 2  # low on purpose: an estimate that is too high stops early, one too low overspends
TOKENS_AROUND = 8  # of a message's role and its delimiters

_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, and the day the price was looked up."""

    input: float
    output: float
    cached_input: float | None = None
    as_of: str = ""

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cheap = self.input if self.cached_input is None else self.cached_input
        fresh = (usage.input_tokens - cached) * self.input
        return (fresh + cached * cheap + usage.output_tokens * self.output) / MILLION

    def estimate(self, messages: Sequence[Message], max_tokens: int | None) -> float:
        """Return what a call could cost at most, as far as one can tell before it is made."""
        size = sum(len(turn["content"].encode()) // BYTES_PER_TOKEN + TOKENS_AROUND for turn in messages)
        return self.cost(Usage(size, max_tokens or UNLIMITED_OUTPUT))


FREE = Price(0.0, 0.0, 0.0)


def find_price(settings: LLMSettings) -> Price | None:
    """Return the price of a model: free if embedded, the user's own, the table's, or None if unknown."""
    if settings.embedded:
        return FREE
    if settings.price is not None:
        return Price(*settings.price)
    return lookup(settings.model)


def lookup(model: str) -> Price | None:
    """Return the table's price for a name as providers write it: with a vendor before or a date after it."""
    table = price_table()
    name = model.removeprefix("openai/")
    for candidate in (name, name.rpartition("/")[2]):
        for form in (candidate, _DATED.sub("", candidate)):
            if form in table:
                return table[form]
    return None


@cache
def price_table() -> dict[str, Price]:
    """Return every known price, by model."""
    content = tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))
    return {
        name: Price(**row, as_of=vendor["as_of"])
        for vendor in content.values()
        for name, row in vendor["models"].items()
    }


@dataclass(frozen=True, slots=True)
class PriceList(Result):
    """Every known price."""

    prices: dict[str, Price]

    def summary(self) -> Summary:
        """Return one row per model."""
        from deadpan.page import Table
        from deadpan.page.summary import Summary

        rows = tuple((name, price.input, price.output, price.as_of) for name, price in self.prices.items())
        return Summary((Table(("model", "$/M input tokens", "$/M output tokens", "as of"), rows),))

    def as_dict(self) -> dict[str, object]:
        """Return one row per model."""
        return {
            "prices": [
                {"model": name, "input": price.input, "output": price.output, "as_of": price.as_of}
                for name, price in self.prices.items()
            ]
        }


def list_prices() -> PriceList:
    """Return the table of prices."""
    return PriceList(price_table())
