"""deadpan tour: every stage at work in small, ending in a table and a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deadpan.cli.options import PATH
from deadpan.cli.terminal import json_option, seed_option, show


@click.command()
@click.argument("text", required=False, default="")
@click.option("--out", default="tour", show_default=True, type=PATH, help="Folder to write.")
@seed_option
@json_option
def tour(text: str, out: Path, seed: int, as_json: bool) -> None:
    """Show in seven stops what makes a sarcasm score trustworthy, starting with your own TEXT.

    Runs offline in under three minutes and ends with one page. A stop that needs an extra names it.
    """
    from deadpan.tour.guide import run_tour

    show(run_tour(out, text=text, seed=seed, announce=_announce), as_json)


@contextmanager
def _announce(title: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which stop is under way; leave a line behind when it is done."""
    if not sys.stderr.isatty():
        yield lambda description: None
        return
    from rich.console import Console

    screen = Console(stderr=True)
    started = time.monotonic()
    with screen.status(title) as status:
        yield lambda description: status.update(f"{title}: {description}")
    screen.print(f"[green]✓[/] {title} [dim]{time.monotonic() - started:.1f} s[/]")
