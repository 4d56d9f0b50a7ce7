"""Counts of comments and authors by month, before and after the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Frame
from deadpan.corpus.ingest.rules import WITHDRAWN
from deadpan.corpus.relate.awareness import in_scope
from deadpan.corpus.settings import Scope
from deadpan.corpus.sql import parquet_files

Cells = Counter[tuple[int, str]]


@dataclass(slots=True)
class Census:
    """Comments by (month, "kept" or the reason they were dropped), and authors by month."""

    cells: Cells = field(default_factory=Counter)
    authors: dict[int, int] = field(default_factory=dict)
    marking: dict[int, int] = field(default_factory=dict)

    def total(self, name: str) -> int:
        return sum(count for (_, reason), count in self.cells.items() if reason == name)

    def reasons(self) -> dict[str, int]:
        """Return the number of dropped comments by reason, over all months."""
        names = sorted({reason for _, reason in self.cells} - {"kept"})
        return {name: self.total(name) for name in names}


def census_step(
    checkpoints: Checkpoints,
    engine: Engine,
    comments: Frame,
    candidates: Sequence[Path],
    scope: Scope,
    key: object,
) -> Path:
    """Return a folder of counts: rows by (month, reason, in scope), candidates by month, authors by month."""

    def make(folder: Path) -> None:
        rows = comments.with_columns(
            inside=nw.when(in_scope(scope)).then(nw.lit(True)).otherwise(nw.lit(False))
        )
        engine.save(rows.group_by("month", "reason", "inside").agg(count=nw.len()), folder / "rows")
        all_candidates = engine.scan([file for part in candidates for file in parquet_files(part)])
        engine.save(all_candidates.group_by("month").agg(count=nw.len()), folder / "candidates")
        named = comments.filter(nw.col("author") != "", ~nw.col("reason").is_in(list(WITHDRAWN)))
        people = named.group_by("month", "author").agg(marks=nw.col("marked").any())
        marking = nw.when(nw.col("marks")).then(nw.lit(1)).otherwise(nw.lit(0))
        engine.save(people.group_by("month").agg(count=nw.len(), marking=marking.sum()), folder / "authors")

    return checkpoints.step("census", key, make)


def read_census(
    engine: Engine, folder: Path, threads: Path, duplicates: Counter[int], scope: Scope
) -> Census:
    """Count every comment under one reason; what has no reason was kept."""

    def rows(name: str) -> list[dict[str, int | str | bool]]:
        table = engine.collect(engine.scan(parquet_files(folder / name)))
        listed: list[dict[str, int | str | bool]] = table.to_pylist()
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
    candidates = Counter({int(row["month"]): int(row["count"]) for row in rows("candidates")})
    under = _by_month(engine, threads / "under")
    for month, count in clean.items():
        cells[month, "author_unaware"] += count - candidates[month]
        cells[month, "under_sarcasm"] += under[month]
        cells[month, "kept"] += candidates[month] - under[month]
    census.cells = +cells
    people = rows("authors")
    census.authors = {int(row["month"]): int(row["count"]) for row in people}
    census.marking = {int(row["month"]): int(row["marking"]) for row in people if row["marking"]}
    return census


def _by_month(engine: Engine, folder: Path) -> Counter[int]:
    frame = engine.scan(parquet_files(folder)).group_by("month").agg(count=nw.len())
    return Counter({row["month"]: row["count"] for row in engine.collect(frame).to_pylist()})
