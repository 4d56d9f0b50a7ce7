"""Progress of a training that takes hours: a line per minute, which a log file can hold."""

from __future__ import annotations

import time

from deadpan.progress import Progress

INTERVAL = 60.0
"""Seconds between two lines."""


def clocked(what: str) -> Progress:
    """Return a `Progress` that prints a line now and then, beginning with `what`."""
    last = time.monotonic()

    def show(step: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > INTERVAL:
            last = time.monotonic()
            print(f"{what}: {step} {done:,} of {total:,}", flush=True)

    return show
