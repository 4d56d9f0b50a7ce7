"""Rate limit: a bucket per client that refills steadily."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from deadpan.serve.refusals import Refusal

MOST_CLIENTS = 10_000
"""Clients that are remembered; the one that was quiet longest is forgotten first."""


class RateLimit:
    """At most `per_minute` requests of one client, a tenth of them at once; 0: no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_minute / 60
        self.size = max(per_minute / 10, 1.0)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request, or refuse it with the seconds after which one would be let in."""
        if not self.per_second:
            return
        now = self._clock()
        left, then = self._buckets.pop(client, (self.size, now))
        left = min(self.size, left + (now - then) * self.per_second)
        self._buckets[client] = (max(left - 1, 0) if left >= 1 else left, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self.per_second)
            raise Refusal(429, "too_many_requests", f"slow down: try again in {wait} s", retry_after=wait)
