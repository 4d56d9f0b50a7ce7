"""What dumps became, as tables: every comment or submission once, whichever copies there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import narwhals as nw

from deadpan.corpus.dumps import Kind
from deadpan.corpus.engine import Engine, Frame
from deadpan.corpus.ingest import BEST, REPEATED, Unit

Choose: TypeAlias = Callable[[Frame], Frame]


def rows_of(engine: Engine, units: Sequence[Unit], choose: Choose = lambda rows: rows) -> Frame:
    """The rows of some units, each id once; an unreadable line left a row without id, seen by nobody.

    `choose` looks at one row at a time and keeps its id. It comes before copies are left out: most rows are
    not chosen, and need not be looked up then.
    """

    def read(paths: Sequence[Path]) -> Frame:
        return choose(_named(engine.scan(paths).filter(~nw.col("id").is_null()), units[0].kind))

    rows = read([file for unit in units for file in unit.rows])
    copies = [unit.copies for unit in units if unit.copies]
    if not copies:
        return rows
    repeated = engine.scan([folder / REPEATED for folder in copies])
    best = read([folder / BEST for folder in copies])
    return nw.concat([rows.join(repeated, on="id", how="anti"), best], how="vertical")


def _named(rows: Frame, kind: Kind) -> Frame:
    """Three names of nearly always one post are kept as one in the files."""
    if kind == "posts":
        return rows
    return rows.with_columns(
        top=nw.when(nw.col("on_post")).then(nw.col("thread")),
        link=nw.coalesce(nw.col("link"), nw.col("thread")),
    )
