"""When to try again, and how long to wait first."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime


class Failed(Exception):
    """An attempt that may go better the next time: `reason` is a word to count by."""

    def __init__(self, reason: str, detail: str = "", wait: float | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double, each drawn between half and all of it so that callers do not march in step."""

    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 60.0
    """A server may ask for longer (Retry-After); beyond this we come back earlier and see."""
    draw: Callable[[], float] = field(default=random.random)

    def wait(self, attempt: int, failure: Failed) -> float:
        """Seconds before the attempt after number `attempt`, which counts from 0."""
        own = min(self.longest, self.first * 2.0 ** min(attempt, 30)) * (0.5 + self.draw() / 2)
        if failure.wait is None:
            return own
        return max(own, min(failure.wait, self.longest_asked))


def asked_wait(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds a server asks us to wait: Retry-After in seconds or as a date, or its form in milliseconds."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except (ValueError, TypeError):  # neither a number nor a date: as if it had not been said
        return None
