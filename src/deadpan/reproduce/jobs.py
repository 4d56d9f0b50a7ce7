"""Jobs: pieces of work that measure one or more cells, each finished or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deadpan.reproduce.published import PublishedCell, cell_id
from deadpan.reproduce.verdicts import Measured
from deadpan.reproduce.workshop import Workshop

Work = Callable[[Workshop], Mapping[str, Measured]]


@dataclass(frozen=True, slots=True)
class Job:
    """A name, the ids of the cells it measures, and the work; `draw` returns the figure of an exhibit."""

    name: str
    cells: tuple[str, ...]
    work: Work
    draws: Mapping[str, Callable[[Workshop], Any]] = field(default_factory=dict)


def cells_of(exhibit: str, rows: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of some rows and columns of a table."""
    columns = list(columns)
    return tuple(cell_id(exhibit, row, column) for row in rows for column in columns)


def same(ids: Iterable[str], measured: Measured) -> dict[str, Measured]:
    """Return the same measurement for several cells."""
    return dict.fromkeys(ids, measured)


def wanted(cells: Iterable[PublishedCell], only: Iterable[str]) -> list[PublishedCell]:
    """Return the cells of the exhibits asked for; all if none is named."""
    chosen = set(only)
    return [cell for cell in cells if not chosen or cell.exhibit in chosen]
