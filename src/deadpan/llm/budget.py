"""A limit on money: what was spent, what calls in flight may still cost, and the line not to cross."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deadpan.errors import DeadpanError


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
