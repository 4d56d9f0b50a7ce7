"""Money: what was spent, what is being spent, and the line that is not crossed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deadpan.errors import DeadpanError


class CostLimit(DeadpanError):
    """The next call could go past max_cost, so it was not made."""


class Budget:
    """What a Client spends, across all its calls. Lives on one event loop, so it needs no lock.

    A call sets aside what it could cost at most and gives back the rest when it ends. One that does not
    fit beside the calls in flight waits for them; one that would not fit alone is refused.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._aside: list[float] = []
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def room(self, estimate: float) -> AsyncIterator[Callable[[float], None]]:
        """Set `estimate` aside for the length of a call, which reports what it really cost."""
        while not self._fits(estimate):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._aside.append(estimate)
        try:
            yield self._charge
        finally:
            self._aside.remove(estimate)
            self._wake()

    def _charge(self, cost: float) -> None:
        self.spent += cost

    def _wake(self) -> None:
        """Let all who wait look again; who was cancelled meanwhile has nothing to look for."""
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _fits(self, estimate: float) -> bool:
        """Whether a call fits beside those in flight; an error if it would not fit without them."""
        if self.limit is None or self.spent + sum(self._aside) + estimate <= self.limit:
            return True
        if self.spent + estimate > self.limit:
            raise CostLimit(
                f"max_cost of ${self.limit:.2f} reached: ${self.spent:.4f} spent and the next call "
                f"may cost ${estimate:.4f}; raise max_cost or lower max_tokens"
            )
        return False
