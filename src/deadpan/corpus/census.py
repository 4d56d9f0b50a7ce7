"""Everybody and everything in the dumps, counted by month before and after the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import narwhals as nw

from deadpan.corpus.awareness import in_scope
from deadpan.corpus.engine import Engine, Frame, parquet_files
from deadpan.corpus.settings import Scope
from deadpan.corpus.workshop import Workshop

Cells = Counter[tuple[int, str]]


@dataclass(slots=True)
class Census:
    """Comments by (month, what became of them), and authors by month."""

    cells: Cells = field(default_factory=Counter)
    authors: dict[int, int] = field(default_factory=dict)
    marking: dict[int, int] = field(default_factory=dict)

    def total(self, name: str) -> int:
        return sum(count for (_, what), count in self.cells.items() if what == name)

    def reasons(self) -> dict[str, int]:
        """Dropped comments by reason, all months together."""
        names = sorted({what for _, what in self.cells} - {"kept"})
        return {name: self.total(name) for name in names}


def census_step(
    workshop: Workshop, engine: Engine, comments: Frame, candidates: Sequence[Path], scope: Scope, key: object
) -> Path:
    """A folder of counts: rows by (month, reason, in scope), candidates by month, authors by month."""

    def make(folder: Path) -> None:
        rows = comments.with_columns(
            inside=nw.when(in_scope(scope)).then(nw.lit(True)).otherwise(nw.lit(False))
        )
        engine.save(rows.group_by("month", "reason", "inside").agg(count=nw.len()), folder / "rows")
        found = engine.scan([file for part in candidates for file in parquet_files(part)])
        engine.save(found.group_by("month").agg(count=nw.len()), folder / "candidates")
        named = comments.filter(nw.col("author") != "", nw.col("reason") != "deleted")
        people = named.group_by("month", "author").agg(marks=nw.col("marked").any())
        marking = nw.when(nw.col("marks")).then(nw.lit(1)).otherwise(nw.lit(0))
        engine.save(people.group_by("month").agg(count=nw.len(), marking=marking.sum()), folder / "authors")

    return workshop.step("census", key, make)


def read_census(
    engine: Engine, folder: Path, threads: Path, duplicates: Counter[int], scope: Scope
) -> Census:
    """One reason a comment, counted; what no reason is left for was kept."""

    def rows(name: str) -> list[dict[str, int | str | bool]]:
        listed: list[dict[str, int | str | bool]] = engine.table(
            engine.scan(parquet_files(folder / name))
        ).to_pylist()
        return listed

    census = Census()
    cells, clean = census.cells, Counter[int]()
    for row in rows("rows"):
        month, reason, count = int(row["month"]), str(row["reason"]), int(row["count"])
        if not row["inside"]:
            outside = "outside_months" if not scope.first <= month <= scope.last else "other_subreddit"
            cells[month, outside] += count
        elif reason:
            cells[month, reason] += count
        else:
            clean[month] += count
    for month, count in duplicates.items():
        cells[month, "duplicate"] += count
    found = Counter({int(row["month"]): int(row["count"]) for row in rows("candidates")})
    under = _by_month(engine, threads / "under")
    for month, count in clean.items():
        cells[month, "author_unaware"] += count - found[month]
        cells[month, "under_sarcasm"] += under[month]
        cells[month, "kept"] += found[month] - under[month]
    census.cells = +cells
    people = rows("authors")
    census.authors = {int(row["month"]): int(row["count"]) for row in people}
    census.marking = {int(row["month"]): int(row["marking"]) for row in people if row["marking"]}
    return census


def _by_month(engine: Engine, folder: Path) -> Counter[int]:
    frame = engine.scan(parquet_files(folder)).group_by("month").agg(count=nw.len())
    return Counter({row["month"]: row["count"] for row in engine.table(frame).to_pylist()})
