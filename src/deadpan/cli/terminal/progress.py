"""Progress of a command on stderr: a bar on a terminal, a line per minute anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deadpan.progress import Progress

INTERVAL = 60.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress_bar(clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Yield a `Progress` that shows what is done, how fast, and how long the rest will take."""
    if not sys.stderr.isatty():
        yield _lines(clock)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        current, whole = "", 0

        def report(description: str, done: int, total: int) -> None:
            nonlocal current, whole
            if description != current and (total != whole or not total):
                # A rate mixed from two kinds of work would be wrong; steps of one whole share a total.
                bar.reset(task, description=description, total=total or None)
            current, whole = description, total
            bar.update(task, description=description, completed=done, total=total or None)

        yield report


def _lines(clock: Callable[[], float]) -> Progress:
    started = printed = clock()

    def report(description: str, done: int, total: int) -> None:
        nonlocal printed
        now = clock()
        if now - printed >= INTERVAL:
            printed = now
            amount = f"{done:,} of {total:,}" if total else f"{done:,}"
            sys.stderr.write(f"{description}: {amount}, {(now - started) / 60:.0f} min\n")
            sys.stderr.flush()

    return report
