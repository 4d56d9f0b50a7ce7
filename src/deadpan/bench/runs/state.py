"""The state of a run while models are asked, as a table to watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deadpan.page.table import Cell, Table
from deadpan.progress import Progress


@dataclass(slots=True)
class RunState:
    """Progress of the run of one model."""

    model: str
    total: int
    done: int = 0
    resumed: int = 0
    calls: int = 0
    retries: int = 0
    escalated: int = 0
    errors: int = 0
    spent: float = 0.0
    unpriced: bool = False
    state: str = "waiting"


Watch = Callable[[Sequence[RunState]], None]


def state_table(states: Sequence[RunState], seconds: float) -> Table:
    """Return one row per model: progress, rate, time left and money spent."""
    rows: list[tuple[Cell, ...]] = []
    for state in states:
        rate = (state.done - state.resumed) / seconds if seconds > 0 else 0.0
        left = (state.total - state.done) / rate if rate and state.done < state.total else None
        progress = f"{state.state} {state.done:,}/{state.total:,}"
        time_left = None if left is None else "{}:{:02d}".format(*divmod(round(left), 60))
        rows.append(
            (state.model, progress, f"{rate:.1f}/s", time_left, state.retries, state.errors, _money(state))
        )
    return Table(("model", "rows", "rate", "left", "retries", "errors", "spent"), tuple(rows))


def _money(state: RunState) -> str:
    """Return what is known to be spent; a model without a price is not free."""
    if not state.unpriced:
        return f"${state.spent:.4f}"
    return f"${state.spent:.4f} + unpriced" if state.spent else "no price"


def progress_watch(progress: Progress) -> Watch:
    """Return a watcher that reports rows over all models as one progress."""

    def report(states: Sequence[RunState]) -> None:
        spent = sum(state.spent for state in states)
        money = f", ${spent:.4f} spent" if spent else ""
        done, total = sum(state.done for state in states), sum(state.total for state in states)
        progress(f"asking {len(states)} models{money}", done, total)

    return report
