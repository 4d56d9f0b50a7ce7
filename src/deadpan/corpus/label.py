"""Authors who know the marker, since when, the candidates for the corpus that remain, and counts by month.

An author is aware in a month if any marked comment of theirs, kept or not, is from that month or an earlier
one. Both steps run per dump, so a month that is added later leaves the results of earlier months as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Frame, parquet_files
from deadpan.corpus.rows import Unit, rows_of
from deadpan.corpus.rules import WITHDRAWN_REASONS
from deadpan.corpus.settings import Scope
from deadpan.progress import Progress, silent
from deadpan.validation import encode

# All columns but the texts, which are long and are read only for the comments that are kept.
CANDIDATE_COLUMNS = (
    "id", "up", "top", "link", "author", "subreddit",
    "score", "ups", "downs", "created_utc", "month",
    "marked",
)  # fmt: skip


def author_parts(
    checkpoints: Checkpoints, engine: Engine, units: Sequence[Unit], progress: Progress = silent
) -> list[Path]:
    """Return, for each unit, a folder of (author, month of their first marked comment in it)."""
    parts = []
    for unit in units:
        frame = (
            rows_of(engine, [unit], lambda rows: rows.filter(nw.col("marked"), nw.col("author") != ""))
            .group_by("author")
            .agg(since=nw.col("month").min())
        )
        parts.append(checkpoints.step("authors", [unit.key], partial(engine.save, frame)))
        progress("authors", len(parts), 3 * len(units) + 1)
    return parts


def author_state(engine: Engine, parts: Sequence[Path]) -> Frame:
    """Return (author, first marked month) over all units."""
    files = [file for part in parts for file in parquet_files(part)]
    return engine.scan(files).group_by("author").agg(since=nw.col("since").min())


def in_scope(scope: Scope) -> nw.Expr:
    """Return the condition that a comment may be in the corpus; others count for awareness and trees."""
    inside = nw.col("month").is_between(scope.first, scope.last)
    if scope.subreddits:
        return inside & nw.col("subreddit").str.to_lowercase().is_in([s.lower() for s in scope.subreddits])
    return inside


def with_candidates(comments: Frame, state: Frame, scope: Scope) -> Frame:
    """Add a flag `candidate`: no rule but `under_sarcasm` can exclude the comment."""
    fits = (nw.col("reason") == "") & in_scope(scope)
    if scope.aware_authors:
        comments = comments.join(state, on="author", how="left")
        fits = fits & (nw.col("since") <= nw.col("month"))
    return comments.with_columns(candidate=nw.when(fits).then(nw.lit(True)).otherwise(nw.lit(False)))


def candidate_parts(
    checkpoints: Checkpoints,
    engine: Engine,
    units: Sequence[Unit],
    authors: Sequence[Path],
    scope: Scope,
    progress: Progress = silent,
) -> list[Path]:
    """Return, for each unit, a folder of its candidates.

    Its key holds only the author parts that can matter: those of units that begin no later than it ends.
    """
    state = author_state(engine, authors)

    def choose(comments: Frame) -> Frame:
        clean = comments.filter(nw.col("reason") == "")  # before the join: many comments are not clean
        return with_candidates(clean, state, scope).filter(nw.col("candidate")).select(*CANDIDATE_COLUMNS)

    parts = []
    for unit in units:
        relevant = [
            part.name for part, other in zip(authors, units, strict=True) if other.first_month <= unit.last_month
        ]
        frame = rows_of(engine, [unit], choose)
        key = {"unit": unit.key, "authors": sorted(relevant), "scope": _relevant_scope(scope, unit)}
        parts.append(checkpoints.step("candidates", key, partial(engine.save, frame)))
        progress("candidates", len(units) + 2 * len(parts), 3 * len(units) + 1)
    return parts


def _relevant_scope(scope: Scope, unit: Unit) -> dict[str, object]:
    """Return the scope as far as it restricts a unit: a later last month leaves earlier units unchanged."""
    first, last = unit.first_month, unit.last_month
    return {
        **encode(scope),
        "first_month": min(max(scope.first, first), last + 1),
        "last_month": max(min(scope.last, last), first - 1),
    }


Cells = Counter[tuple[int, str]]


@dataclass(slots=True)
class Census:
    """Comments by (month, "kept" or the reason they were dropped), and authors by month."""

    cells: Cells = field(default_factory=Counter)
    authors: dict[int, int] = field(default_factory=dict)
    marking: dict[int, int] = field(default_factory=dict)
    everyone: dict[bool, int] = field(default_factory=dict)
    """Authors of all months by whether they ever used the marker."""

    def total(self, name: str) -> int:
        return sum(count for (_, reason), count in self.cells.items() if reason == name)

    def reasons(self) -> dict[str, int]:
        """Return the number of dropped comments by reason, over all months."""
        names = sorted({reason for _, reason in self.cells} - {"kept"})
        return {name: self.total(name) for name in names}


def census_step(
    checkpoints: Checkpoints, engine: Engine, comments: Frame, candidates: Sequence[Path], scope: Scope, key: object
) -> Path:
    """Return a folder of counts: rows by (month, reason, in scope), candidates by month, authors by month."""

    def make(folder: Path) -> None:
        rows = comments.with_columns(inside=nw.when(in_scope(scope)).then(nw.lit(True)).otherwise(nw.lit(False)))
        engine.save(rows.group_by("month", "reason", "inside").agg(count=nw.len()), folder / "rows")
        all_candidates = engine.scan([file for part in candidates for file in parquet_files(part)])
        engine.save(all_candidates.group_by("month").agg(count=nw.len()), folder / "candidates")
        named = comments.filter(nw.col("author") != "", ~nw.col("reason").is_in(list(WITHDRAWN_REASONS)))
        people = named.group_by("month", "author").agg(marks=nw.col("marked").any())
        marking = nw.when(nw.col("marks")).then(nw.lit(1)).otherwise(nw.lit(0))
        engine.save(people.group_by("month").agg(count=nw.len(), marking=marking.sum()), folder / "authors")
        everyone = named.group_by("author").agg(marks=nw.col("marked").any())
        engine.save(everyone.group_by("marks").agg(count=nw.len()), folder / "everyone")

    return checkpoints.step("census", key, make)


def read_census(engine: Engine, folder: Path, threads: Path, duplicates: Counter[int], scope: Scope) -> Census:
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
    below = engine.scan(parquet_files(threads / "under")).group_by("month").agg(count=nw.len())
    under = Counter({row["month"]: row["count"] for row in engine.collect(below).to_pylist()})
    for month, count in clean.items():
        cells[month, "author_unaware"] += count - candidates[month]
        cells[month, "under_sarcasm"] += under[month]
        cells[month, "kept"] += candidates[month] - under[month]
    census.cells = +cells
    people = rows("authors")
    census.authors = {int(row["month"]): int(row["count"]) for row in people}
    census.marking = {int(row["month"]): int(row["marking"]) for row in people if row["marking"]}
    census.everyone = {bool(row["marks"]): int(row["count"]) for row in rows("everyone")}
    return census
