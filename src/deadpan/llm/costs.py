"""Costs of calls: prices from genai-prices (an unknown one is None, never a guess), and a budget."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from deadpan.errors import DeadpanError, need
from deadpan.llm.messages import Message, Usage
from deadpan.llm.settings import LLMSettings, split_name

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

MILLION = 1_000_000
UNLIMITED_OUTPUT = 4_096  # tokens assumed of a call that sets no limit
BYTES_PER_TOKEN = 2  # low on purpose: an estimate that is too high stops early, one too low overspends
TOKENS_AROUND = 8  # of a message's role and its delimiters


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, and the release of the table that says so.

    A price from the table keeps `tiers`: some models cost more per token in a long context.
    """

    input: float
    output: float
    cached_input: float | None = None
    as_of: str = ""
    tiers: ModelPrice | None = field(default=None, repr=False, compare=False)

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        if self.tiers is not None:
            return _table_cost(self.tiers, usage, cached)
        cheap = self.input if self.cached_input is None else self.cached_input
        fresh = (usage.input_tokens - cached) * self.input
        return (fresh + cached * cheap + usage.output_tokens * self.output) / MILLION

    def estimate(self, messages: Sequence[Message], max_tokens: int | None) -> float:
        """Return what a call could cost at most, as far as one can tell before it is made."""
        size = sum(len(turn["content"].encode()) // BYTES_PER_TOKEN + TOKENS_AROUND for turn in messages)
        return self.cost(Usage(size, max_tokens or UNLIMITED_OUTPUT))


def _table_cost(tiers: ModelPrice, usage: Usage, cached: int) -> float:
    from genai_prices import Usage as Counted

    tokens = {"input_tokens": usage.input_tokens, "cache_read_tokens": cached, "output_tokens": usage.output_tokens}
    # The table takes whole tokens; an estimate may have a fraction.
    counted = Counted(**{name: math.ceil(count) for name, count in tokens.items()})
    return float(tiers.calc_price(counted)["total_price"])


FREE = Price(0.0, 0.0, 0.0)


def find_price(settings: LLMSettings) -> Price | None:
    """Return the price of a model: free if embedded, the user's own, the table's, or None if unknown."""
    if settings.embedded:
        return FREE
    if settings.price is not None:
        return Price(*settings.price)
    provider, name = split_name(settings)
    return table_price(name.removeprefix("openai/"), provider.price_id)


@cache
def table_price(model: str, provider: str | None = None) -> Price | None:
    """Return the table's price of a model; without a provider, of the one whose models have such names."""
    need("genai_prices", "llm")
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    try:
        # Only the table of the installed release: nothing is fetched.
        found = calc_price(Counted(input_tokens=1, output_tokens=1), model, provider_id=provider).model_price
    except LookupError:
        return None
    rates = [getattr(rate, "base", rate) for rate in (found.input_mtok, found.output_mtok, found.cache_read_mtok)]
    if rates[0] is None or rates[1] is None:  # priced by request or by second
        return None
    cached = None if rates[2] is None else float(rates[2])
    as_of = f"genai-prices {version('genai-prices')}"
    return Price(float(rates[0]), float(rates[1]), cached, as_of, found)


class CostLimit(DeadpanError):
    """The next call could exceed max_cost, so it was not made."""


class Budget:
    """Money that one or more Clients may spend together. Lives on one event loop, so it needs no lock.

    A call reserves what it could cost at most and returns the rest when it ends. A call that does not fit
    beside the calls in flight waits for them; one that would not fit alone is refused. `spent` starts with
    what earlier starts of the run have paid (`Journal.paid`).
    """

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self._reserved: list[float] = []
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def reserve(self, estimate: float) -> AsyncIterator[Callable[[float], None]]:
        """Reserve `estimate` dollars for one call; yield a function to report what it really cost."""
        while not self._fits(estimate):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._reserved.append(estimate)
        try:
            yield self._charge
        finally:
            self._reserved.remove(estimate)
            self._wake()

    def _charge(self, cost: float) -> None:
        self.spent += cost

    def _wake(self) -> None:
        """Let every waiting call check again; skip those that were cancelled."""
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _fits(self, estimate: float) -> bool:
        """Return whether a call fits beside those in flight; raise if it would not fit even without them."""
        if self.limit is None or self.spent + sum(self._reserved) + estimate <= self.limit:
            return True
        if self.spent + estimate > self.limit:
            raise CostLimit(
                f"max_cost of ${self.limit:.2f} reached: ${self.spent:.4f} spent and the next call "
                f"may cost ${estimate:.4f}; raise max_cost or lower max_tokens"
            )
        return False
