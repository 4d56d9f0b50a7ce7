"""deadpan tour: the main job in small, stop by stop, ending in a table and a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.page import Page
    from deadpan.stats import Interval

STOPS = {
    "a first detector": "deadpan.cli.stops.first_detector:stop",
    "a corpus from dumps": "deadpan.cli.stops.corpus:stop",
    "the shipped detector": "deadpan.cli.stops.detect:stop",
    "writing dialogues": "deadpan.cli.stops.generate:stop",
    "people": "deadpan.cli.stops.studio:stop",
    "SarcBench": "deadpan.cli.stops.bench:stop",
}
"""Every capability's stop, in the order of the data's life: a section of the page, rows of the table."""


@dataclass(slots=True)
class Guide:
    """What a stop gets: a page to write on, a folder for files, and a table everybody sees at the end."""

    page: Page
    out: Path
    seed: int
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    step: Callable[[str], None] = lambda what: None

    def result(self, what: str, value: Interval | str, n: int | str = "") -> None:
        """A row of the closing table."""
        shown = value if isinstance(value, str) else str(value)
        self.rows.append((what, shown, f"{n:,}" if isinstance(n, int) else n))


@click.command()
@click.option("--out", default="tour", show_default=True, type=click.Path(path_type=Path))
@seed_option
@json_option
def tour(out: Path, seed: int, as_json: bool) -> None:
    """See the main job done in small on what comes with the package: no data, no network, a few minutes."""
    from deadpan.page import Page
    from deadpan.storage import write_manifest

    page = Page("A tour of deadpan", "What the program does, done in small on the data that comes with it.")
    guide = Guide(page, out, seed)
    began = time.monotonic()
    for title, target in STOPS.items():
        module, _, function = target.partition(":")
        with _shown(guide, title):
            getattr(import_module(module), function)(guide)
    report = out / "report.html"
    page.write(report)
    write_manifest(out, command="tour", seed=seed)
    data = {
        "report": str(report.resolve()),
        "seconds": round(time.monotonic() - began, 1),
        "rows": [{"what": what, "value": value, "n": n} for what, value, n in guide.rows],
    }

    def show(screen: Console) -> None:
        screen.print(table(("what", "value", "n"), guide.rows, numbers=("n",)))
        screen.print(f"\nThe report, one file that needs no network: {report.resolve()}", soft_wrap=True)

    emit(as_json, data, show)


@contextmanager
def _shown(guide: Guide, title: str) -> Iterator[None]:
    """Say on the terminal which stop this is, and what it is doing; leave a line behind when it is done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    screen = Console(stderr=True)
    began = time.monotonic()
    with screen.status(title) as status:
        guide.step = lambda what: status.update(f"{title}: {what}")
        yield
    screen.print(f"[green]✓[/] {title} [dim]{time.monotonic() - began:.1f} s[/]")
