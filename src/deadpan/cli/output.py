"""How commands answer: a screen for people, JSON for machines, progress while it takes long."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from deadpan.drops import Tally
from deadpan.palette import SARCASTIC, SINCERE
from deadpan.records import Example
from deadpan.text import render_turn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

T = TypeVar("T")
B = TypeVar("B", bound=Sized)
PIPE_WIDTH = 120

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
seed_option = click.option("--seed", default=0, show_default=True, help="Randomness starts here.")


def emit(as_json: bool, data: object, show: Callable[[Console], None]) -> None:
    """Answer once: `data` as JSON, or what `show` draws."""
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        show(console())


def console() -> Console:
    """Standard output; colour only on a terminal and not against NO_COLOR."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            # rich would exit with 1; that the reader went away (`| head`) is not an error of ours.
            raise BrokenPipeError

    return Screen(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH, soft_wrap=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> Table:
    """One look for every table: no boxes, numbers to the right."""
    from rich.table import Table
    from rich.text import Text

    result = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        number = column in numbers
        result.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        result.add_row(*[cell if isinstance(cell, Text) else Text(str(cell)) for cell in row])
    return result


def label_word(label: bool | None) -> Text:
    """The label as a word in its hue: never colour alone."""
    from rich.text import Text

    if label is None:
        return Text("not labelled", style="dim")
    return Text("sarcastic", style=SARCASTIC) if label else Text("sincere", style=SINCERE)


def show_conversation(out: Console, example: Example) -> None:
    """A conversation as people read it: what came before dimmed, the response set apart."""
    from rich.text import Text

    title = Text(example.id, style="dim").append("  ").append_text(label_word(example.label))
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
    """What was left out and what was changed, with the first places; nothing when nothing was."""
    from rich.text import Text

    for title, counts in (("left out", tally.drops), ("changed", tally.changes)):
        if counts:
            parts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
            out.print(Text(f"{title}: {parts}", style="yellow" if title == "left out" else "dim"))
    for reason in sorted(tally.drops):
        for place in tally.places.get(reason, []):
            out.print(Text(f"  {reason}  {place}", style="dim"))


@contextmanager
def progress(title: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """A bar with a rate and an estimate on a terminal's stderr; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda amount: None
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

    columns = [
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda amount: bar.advance(task, amount)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the search for reference cycles: records have none, and it took a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def watched_batches(title: str, batches: Iterable[B]) -> Iterator[B]:
    """Batches of rows themselves, their rows counted on a progress bar as they pass."""
    with progress(title) as advance:
        for batch in batches:
            yield batch
            advance(len(batch))


def watched(title: str, records: Iterable[T], total: int | None = None) -> Iterator[T]:
    """The records themselves, counted on a progress bar as they pass."""
    with progress(title, total) as advance:
        for count, record in enumerate(records, 1):
            yield record
            if count % 1000 == 0:
                advance(1000)
