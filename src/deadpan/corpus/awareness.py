"""Who knows the marker since when, and which comments that leaves: the candidates of the corpus.

An author is aware in a month if any marked comment of theirs, kept or not, is from it or an earlier one.
Both steps go dump by dump: a month added later leaves the earlier ones as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import narwhals as nw

from deadpan.corpus.engine import Engine, Frame, parquet_files
from deadpan.corpus.ingest import Unit
from deadpan.corpus.rows import rows_of
from deadpan.corpus.settings import Scope
from deadpan.corpus.workshop import Workshop
from deadpan.fields import encode

CANDIDATE_COLUMNS = (
    "id", "up", "top", "link", "author", "subreddit",
    "score", "ups", "downs", "created_utc", "month",
    "marked",
)  # fmt: skip
"""Without their words, which are long and read only for what is really kept."""


def author_parts(workshop: Workshop, engine: Engine, units: Sequence[Unit]) -> list[Path]:
    """For each unit, a folder of (author, month of their first marked comment in it)."""
    parts = []
    for unit in units:
        frame = (
            rows_of(engine, [unit], lambda rows: rows.filter(nw.col("marked"), nw.col("author") != ""))
            .group_by("author")
            .agg(since=nw.col("month").min())
        )
        parts.append(
            workshop.step(
                "authors",
                [unit.key],
                lambda folder, frame=frame: engine.save(frame, folder),  # type: ignore[misc]
            )
        )
    return parts


def author_state(engine: Engine, parts: Sequence[Path]) -> Frame:
    """(author, first marked month) over all units."""
    files = [file for part in parts for file in parquet_files(part)]
    return engine.scan(files).group_by("author").agg(since=nw.col("since").min())


def in_scope(scope: Scope) -> nw.Expr:
    """Which comments the corpus is about; the others still feed awareness and trees."""
    inside = nw.col("month").is_between(scope.first, scope.last)
    if scope.subreddits:
        return inside & nw.col("subreddit").str.to_lowercase().is_in([s.lower() for s in scope.subreddits])
    return inside


def candidates(comments: Frame, state: Frame, scope: Scope) -> Frame:
    """Comments no rule but `under_sarcasm` speaks against."""
    clean = comments.filter(nw.col("reason") == "", in_scope(scope))
    if not scope.aware_authors:
        return clean
    return clean.join(state, on="author", how="inner").filter(nw.col("since") <= nw.col("month"))


def candidate_parts(
    workshop: Workshop, engine: Engine, units: Sequence[Unit], authors: Sequence[Path], scope: Scope
) -> list[Path]:
    """For each unit, a folder of its candidates. Its key has the authors' parts that can matter: those of
    units that begin no later than this one ends."""
    state = author_state(engine, authors)
    parts = []
    for unit in units:
        mattering = [
            part.name
            for part, other in zip(authors, units, strict=True)
            if min(other.months) <= max(unit.months)
        ]
        frame = rows_of(
            engine, [unit], lambda rows: candidates(rows, state, scope).select(*CANDIDATE_COLUMNS)
        )
        key = {"unit": unit.key, "authors": sorted(mattering), "scope": _relevant(scope, unit)}
        parts.append(
            workshop.step(
                "candidates",
                key,
                lambda folder, frame=frame: engine.save(frame, folder),  # type: ignore[misc]
            )
        )
    return parts


def _relevant(scope: Scope, unit: Unit) -> dict[str, object]:
    """The scope as far as it cuts into this unit: a later --to leaves earlier months as they are."""
    first, last = min(unit.months), max(unit.months)
    return {
        **encode(scope),
        "first_month": min(max(scope.first, first), last + 1),
        "last_month": max(min(scope.last, last), first - 1),
    }
