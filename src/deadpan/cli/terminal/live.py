"""A live table of runs on a terminal; a line per minute anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deadpan.bench.runs.run import RunState, Watch

REDRAW = 0.25
"""Seconds between two drawings."""


@contextmanager
def live() -> Iterator[Watch | None]:
    """Yield a watcher of runs that draws them on standard error."""
    from deadpan.bench.runs.run import progress_watch, state_table
    from deadpan.cli.terminal.progress import progress_bar

    if not sys.stderr.isatty():
        with progress_bar() as progress:
            yield progress_watch(progress)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from deadpan.page.terminal import render_text

    started = drawn = time.monotonic()
    console = Console(stderr=True)
    with Live(console=console, transient=True, auto_refresh=False) as screen:

        def watch(states: Sequence[RunState]) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn > REDRAW:
                drawn = now
                table = state_table(states, now - started)
                screen.update(Text(render_text(table, console.width)), refresh=True)

        yield watch
