"""Rules for retrying a failed attempt: when, after how long, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from deadpan.errors import ModelError


class Failed(Exception):
    """A failed attempt that may succeed when repeated. `reason` is a word to count by.

    `wait` is the number of seconds the server asks for. `final` is the error to raise once no retries are
    left, `most` the number of retries worth making (None: as many as the settings allow). `request` is the
    body that was sent.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        wait: float | None = None,
        *,
        most: int | None = None,
        final: ModelError | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.wait = wait
        self.most = most
        self.final = final
        self.request: Mapping[str, Any] = {}


class Denied(ModelError):
    """The server rejects the key or the account (HTTP 401, 402, 403, no credit): a retry cannot help."""


class Unreachable(ModelError):
    """Nothing listens at the server's address."""


class Silent(ModelError):
    """The model has never returned anything: empty answers, empty bodies, or nothing that can be read."""


class Unavailable(ModelError):
    """The model has failed several times in a row, so the run should stop; finished calls are kept."""


HOPELESS = (Denied, Unreachable, Silent)
"""Errors that the next call would meet too."""
NOTHING = ("empty", "garbage")
"""Reasons of attempts that returned nothing."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double. Each is drawn between half and all of it, so that callers spread out."""

    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 60.0
    """The longest wait a server may ask for (Retry-After); beyond this we retry earlier."""
    draw: Callable[[], float] = field(default=random.random)

    def wait(self, attempt: int, failure: Failed) -> float:
        """Return the seconds before the attempt after number `attempt`, which counts from 0."""
        own = min(self.longest, self.first * 2.0 ** min(attempt, 30)) * (0.5 + self.draw() / 2)
        if failure.wait is None:
            return own
        return max(own, min(failure.wait, self.longest_asked))


class Breaker:
    """A circuit breaker: after several failed calls in a row, further calls fail at once.

    It opens after `hopeless` calls that were denied, found no server or got nothing from a model that has
    never answered, or after `limit` calls that failed for any reason. After `rest` seconds it lets calls
    through again, so that a server that was started meanwhile is found. Lives on one event loop, so it needs
    no lock.
    """

    def __init__(
        self, limit: int = 10, hopeless: int = 3, rest: float = 5.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = limit
        self.hopeless = hopeless
        self.rest = rest
        self.heard = False
        """True if the model has ever answered."""
        self._clock = clock
        self._failed = 0
        self._hopeless = 0
        self._open: Unavailable | None = None
        self._opened = 0.0

    def check(self) -> None:
        """Raise `Unavailable` while the breaker is open."""
        if self._open is not None:
            if self._clock() - self._opened < self.rest:
                raise self._open
            self._open = None

    def succeeded(self) -> None:
        """Count a call that was answered."""
        self.heard = True
        self._failed = self._hopeless = 0

    def failed(self, error: ModelError) -> ModelError:
        """Count a failed call; return its error, or `Unavailable` if the run should stop."""
        self._failed += 1
        self._hopeless = self._hopeless + 1 if isinstance(error, HOPELESS) else 0
        if self._hopeless < self.hopeless and self._failed < self.limit:
            return error
        count = self._hopeless if self._hopeless >= self.hopeless else self._failed
        self._open = Unavailable(f"{count} calls in a row failed, the last: {error}")
        self._opened = self._clock()
        return self._open


def asked_wait(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds a server asks us to wait: Retry-After as seconds or a date, or retry-after-ms."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except (ValueError, TypeError):  # neither a number nor a date: ignore it
        return None
