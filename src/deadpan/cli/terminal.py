"""Output of commands: tables and JSON on stdout; a progress bar and a live table of runs on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from deadpan.progress import Progress
from deadpan.results import Result
from deadpan.text import render_turn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from deadpan.bench.runs.run import RunState, Watch
    from deadpan.drops import Tally
    from deadpan.records import Example

INTERVAL = 60.0
"""Seconds between two lines of progress where there is no terminal."""
REDRAW = 0.25
"""Seconds between two drawings of a live table."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
seed_option = click.option("--seed", default=0, show_default=True, help="Random seed.")


def show(result: Result, as_json: bool, *, failed: object = False) -> int:
    """Print a result once, as JSON or its summary in the width of the terminal; return the exit code."""
    if as_json:
        _print_json(result.as_dict())
    else:
        terminal = sys.stdout.isatty()
        click.echo(result.summary().text(_width(), bold=terminal and "NO_COLOR" not in os.environ))
    return 1 if failed else 0


def _width() -> int:
    """Return the columns to write: the terminal's, or those of COLUMNS, or 80; a line of over 120 is hard to read."""
    return min(shutil.get_terminal_size((80, 24)).columns, 120)


def emit(as_json: bool, data: object, show: Callable[[Console], None]) -> None:
    """Print once: `data` as JSON, or what `show` draws."""
    if as_json:
        _print_json(data)
    else:
        show(console())


def _print_json(data: object) -> None:
    """Print JSON, with escapes where the output is not UTF-8."""
    unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(data, ensure_ascii=not unicode, indent=1, allow_nan=False))


def console() -> Console:
    """Return standard output, coloured on a terminal only, and never where NO_COLOR is set."""
    from rich.console import Console

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            # rich would exit with 1, but a reader that went away (`| head`) is not an error.
            raise BrokenPipeError

    return PipeConsole(highlight=False, width=None if sys.stdout.isatty() else _width(), soft_wrap=False)


def _label_word(label: bool | None) -> Text:
    """Return the label as a word in its colour: never colour alone."""
    from rich.text import Text

    from deadpan.palette import SARCASTIC, SINCERE

    if label is None:
        return Text("not labelled", style="dim")
    return Text("sarcastic", style=SARCASTIC) if label else Text("sincere", style=SINCERE)


def show_conversation(out: Console, example: Example) -> None:
    """Print a conversation: the context dimmed, the response marked."""
    from rich.text import Text

    title = Text(example.id, style="dim").append("  ").append_text(_label_word(example.label))
    if example.categories:
        title.append(f" ({', '.join(example.categories)})")
    out.print(title)
    for turn in example.context:
        out.print(_indented(Text(render_turn(turn), style="dim"), 2))
    out.print(_indented(Text("▸ ", style="bold").append(render_turn(example.response)), 2))
    for word, text in (("why", example.explanation), ("literally", example.rephrase)):
        if text:
            out.print(_indented(Text(f"{word}: {text}", style="italic dim"), 4))
    out.print()


def _indented(text: Text, by: int) -> Padding:
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, by), expand=False)


def show_tally(out: Console, tally: Tally) -> None:
    """Print the counts of excluded and changed rows, with the first places; nothing if there are none."""
    from rich.text import Text

    for title, counts in (("excluded", tally.drops), ("changed", tally.changes)):
        if counts:
            parts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
            out.print(Text(f"{title}: {parts}", style="yellow" if title == "excluded" else "dim"))
    for reason in sorted(tally.drops):
        for place in tally.places.get(reason, []):
            out.print(Text(f"  {reason}  {place}", style="dim"))


# ------------------------------------------------------------ long work


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


@contextmanager
def live() -> Iterator[Watch | None]:
    """Yield a watcher of runs that draws them on standard error."""
    from deadpan.bench.runs.run import progress_watch, state_table

    if not sys.stderr.isatty():
        with progress_bar() as progress:
            yield progress_watch(progress)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from deadpan.page.summary import render_text

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
