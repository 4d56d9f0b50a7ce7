"""Ingested dumps as tables, in which every comment or submission occurs once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import narwhals as nw

from deadpan.corpus.engines.engine import Engine, Frame
from deadpan.corpus.ingest.dumps import Kind
from deadpan.corpus.ingest.units import BEST, REPEATED, Unit

Choose: TypeAlias = Callable[[Frame], Frame]


def rows_of(engine: Engine, units: Sequence[Unit], choose: Choose = lambda rows: rows) -> Frame:
    """Return the rows of some units, each id once, without the rows of unreadable lines.

    `choose` filters or selects rows one by one and keeps their id. It runs before duplicates are removed:
    most rows are not chosen, and need no lookup then.
    """

    def read(paths: Sequence[Path]) -> Frame:
        return choose(_with_names(engine.scan(paths).filter(~nw.col("id").is_null()), units[0].kind))

    rows = read([file for unit in units for file in unit.rows])
    copies = [unit.copies for unit in units if unit.copies]
    if not copies:
        return rows
    repeated = engine.scan([folder / REPEATED for folder in copies])
    best = read([folder / BEST for folder in copies])
    return nw.concat([rows.join(repeated, on="id", how="anti"), best], how="vertical")


def _with_names(rows: Frame, kind: Kind) -> Frame:
    """Add `top` and `link`, which the files leave out where they equal `thread`."""
    if kind == "posts":
        return rows
    return rows.with_columns(
        top=nw.when(nw.col("on_post")).then(nw.col("thread")),
        link=nw.coalesce(nw.col("link"), nw.col("thread")),
    )
