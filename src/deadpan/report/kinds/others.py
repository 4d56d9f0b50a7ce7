"""Any output by its manifest alone: counts, drops and files; or why it is not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deadpan.page import Cell, Table
from deadpan.report.outputs import Output
from deadpan.report.stories import Story, StoryTable


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per output."""
    return [_problem(output) if output.problem else _story(output) for output in outputs]


def _problem(output: Output) -> Story:
    lead = f"Its numbers are not shown: {output.problem}."
    return Story(output.name, lead, ("not shown",), outputs=(output,))


def _story(output: Output) -> Story:
    files = len(output.manifest.files)
    lead = f"Written by deadpan {output.command}: {files:,} {'file' if files == 1 else 'files'}."
    return Story(output.name, lead, facts_of(output), (), manifest_tables(output), outputs=(output,))


def facts_of(output: Output) -> tuple[str, ...]:
    """Return the command, the first counts and the seed."""
    counts = [
        f"{number:,} {name.replace('_', ' ')}" for name, number in list(output.manifest.counts.items())[:3]
    ]
    seed = [] if output.manifest.seed is None else [f"seed {output.manifest.seed}"]
    return (output.command, *counts, *seed)


def manifest_tables(output: Output) -> tuple[StoryTable, ...]:
    """Return what was counted, dropped and changed."""
    manifest = output.manifest
    parts = (("counted", manifest.counts), ("dropped", manifest.drops), ("changed", manifest.changes))
    return tuple(counts_table(name, counts) for name, counts in parts if counts)


def counts_table(title: str, counts: Mapping[str, int]) -> StoryTable:
    """Return counts as a table."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(_row(name, count) for name, count in counts.items())
    return StoryTable(Table((title, "number"), rows, title.capitalize()), numeric=("number",))


def _row(name: str, count: int) -> tuple[Cell, ...]:
    if name == "cost_micros":  # millionths, so that a manifest has whole numbers only
        return "cost, US $", f"{count / 1e6:,.2f}"
    return name.replace("_", " "), count
