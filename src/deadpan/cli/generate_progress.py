"""Progress of a run of calls: how many, how fast, what it has cost and will."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Tick = Callable[[float], None]


def watch() -> Callable[[str, int], AbstractContextManager[Tick]]:
    """For `open_run`: a bar a step on a terminal's stderr; nothing anywhere else."""
    return _bar


@contextmanager
def _bar(title: str, total: int) -> Iterator[Tick]:
    if not sys.stderr.isatty():
        yield lambda spent: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[money]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, rate="", money="")
        before: list[float] = []

        def tick(spent: float) -> None:
            before[:] = before or [spent]
            bar.advance(task)
            row = bar.tasks[0]
            speed = f"{row.speed:.1f}/s" if row.speed else ""
            bar.update(task, rate=speed, money=money(spent, spent - before[0], int(row.completed), total))

        yield tick


def money(spent: float, here: float, done: int, total: int) -> str:
    """What is spent, and what the whole step will come to at this rate."""
    if not spent:
        return ""
    expected = spent + (here / done) * (total - done) if done else spent
    return f"${spent:.4f} of about ${expected:.4f}"
