"""The table people watch while models are asked: state, rate, spend, how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from deadpan.bench.run import State

Watch = Callable[[Sequence["State"]], None]
COLUMNS = ("model", "state", "done", "rate", "left", "retried", "cut off", "errors", "spent")


@contextmanager
def live() -> Iterator[Watch]:
    """Draw the table on a terminal's stderr, four times a second at most; elsewhere draw nothing."""
    if not sys.stderr.isatty():
        yield lambda states: None
        return
    from rich.console import Console
    from rich.live import Live

    began, drawn = time.monotonic(), 0.0
    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as screen:

        def watch(states: Sequence[State]) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn > 0.25:
                drawn = now
                screen.update(states_table(states, now - began), refresh=True)

        yield watch


def states_table(states: Sequence[State], seconds: float) -> Table:
    """One line a model."""
    from deadpan.cli.output import table

    rows = []
    for state in states:
        rate = (state.done - state.resumed) / seconds if seconds > 0 else 0.0
        left = (state.total - state.done) / rate if rate and state.done < state.total else None
        rows.append(
            (
                state.model,
                state.state,
                f"{state.done:,}/{state.total:,}",
                f"{rate:.1f}/s",
                "" if left is None else _clock(left),
                state.retries,
                state.escalated,
                state.errors,
                _money(state),
            )
        )
    return table(COLUMNS, rows, numbers=COLUMNS[2:])


def _money(state: State) -> str:
    """What is known to be spent; a model without a price is not free."""
    if not state.unpriced:
        return f"${state.spent:.4f}"
    return f"${state.spent:.4f} + unpriced" if state.spent else "no price"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
