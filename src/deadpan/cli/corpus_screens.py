"""What the corpus commands show: a build under way and done, its statistics, and its check."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deadpan.cli.output import table

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from deadpan.corpus.verify import Report
    from deadpan.storage import Manifest

MONTHS = 24


@contextmanager
def watching() -> Iterator[Callable[[str, int, int, int], None]]:
    """One line on a terminal: step, bytes of all bytes, comments a second, and how long it will take."""
    if not sys.stderr.isatty():
        yield lambda step, done, total, comments: None
        return
    from rich import progress
    from rich.console import Console

    columns = [
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=24),
        progress.DownloadColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    ]
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, rate="")

        def watch(step: str, done: int, total: int, comments: int) -> None:
            seconds = bar.tasks[0].elapsed or 0
            rate = f"{comments / seconds:,.0f} comments/s" if comments and seconds else ""
            bar.update(task, description=step, completed=done, total=total or None, rate=rate)

        yield watch


def show_built(out: Console, folder: Path, manifest: Manifest) -> None:
    """What a finished build has, and what it left out."""
    counts = manifest.counts
    rows = [(name, f"{counts[name]:,}") for name in ("lines", "comments", "sarcastic", "sequences")]
    out.print(table(("what", "n"), rows, numbers=("n",)))
    dropped = [(reason, f"{count:,}") for reason, count in manifest.drops.items()]
    out.print(table(("left out", "n"), dropped, numbers=("n",)))
    made = ["raw/", "main/", *(f"{name}/" for name in manifest.config["benchmark"]["subsets"]), "stats.json"]
    out.print(f"{folder}: {', '.join(made)}; next: deadpan corpus stats {folder}")


def show_stats(out: Console, folder: Path, found: Mapping[str, Any], top: int) -> None:
    """Sizes first, then benchmarks, months and subreddits."""
    totals, sequences = found["totals"], found["sequences"]
    out.print(
        f"{totals['comments']:,} comments by {totals['authors']:,} authors in {totals['subreddits']:,} "
        f"subreddits, {totals['sarcastic']:,} sarcastic ({100 * totals['share_sarcastic']:.2f} %)"
    )
    out.print(
        f"{sequences['count']:,} sequences, on average {100 * sequences['mean_share_sarcastic']:.1f} % of "
        f"the replies in one are sarcastic\n"
    )
    out.print(_benchmarks(found["benchmarks"]))
    out.print()
    out.print(_months(found["months"]))
    out.print()
    out.print(_subreddits(found["subreddits"], top))
    out.print(f"\nAll of it: {folder / 'stats.json'}")


def _benchmarks(found: Mapping[str, Any]) -> Any:
    numbers = ("sequences", "replies", "% sarcastic")
    rows = [
        (name, part, f"{one['count']:,}", f"{one['replies']:,}", f"{100 * one['mean_share_sarcastic']:.1f}")
        for name, parts in found.items()
        for part, one in parts.items()
    ]
    return table(("benchmark", "file", *numbers), rows, numbers=numbers)


def _months(found: Mapping[str, Any]) -> Any:
    numbers = ("kept", "authors", "use the marker", "%")
    rows = [
        (
            name,
            f"{one.get('kept', 0):,}",
            f"{one['authors']:,}",
            f"{one['authors_marking']:,}",
            f"{100 * one['share_authors_marking']:.2f}",
        )
        for name, one in found.items()
    ]
    return table(("month", *numbers), rows[-MONTHS:], numbers=numbers)


def _subreddits(found: Mapping[str, Any], top: int) -> Any:
    numbers = ("comments", "sarcastic", "%")
    rows = [
        (name, f"{one['comments']:,}", f"{one['sarcastic']:,}", f"{100 * one['share_sarcastic']:.2f}")
        for name, one in list(found.items())[:top]
    ]
    return table(("subreddit", *numbers), rows, numbers=numbers)


def show_report(out: Console, report: Report) -> None:
    """Every rule, how much was looked at, and whether it holds."""
    rows = []
    for rule, count in report.checked.items():
        wrong = report.wrong.get(rule)
        rows.append((rule, f"{count:,}", f"wrong: {', '.join(wrong[:3])}" if wrong else "holds"))
    out.print(table(("rule", "looked at", "result"), rows, numbers=("looked at",)))
    out.print("every rule holds" if report.sound else f"{len(report.wrong)} rules do not hold")
