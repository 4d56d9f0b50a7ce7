"""Authors who know the marker, since when, and the candidates for the corpus that remain.

An author is aware in a month if any marked comment of theirs, kept or not, is from that month or an earlier
one. Both steps run per dump, so a month that is added later leaves the results of earlier months as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Frame
from deadpan.corpus.ingest.units import Unit
from deadpan.corpus.relate.rows import rows_of
from deadpan.corpus.settings import Scope
from deadpan.corpus.sql import parquet_files
from deadpan.progress import Progress, silent
from deadpan.validation import encode

CANDIDATE_COLUMNS = (
    "id", "up", "top", "link", "author", "subreddit",
    "score", "ups", "downs", "created_utc", "month",
    "marked",
)  # fmt: skip
"""All columns but the texts, which are long and are read only for the comments that are kept."""


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


def _candidates(comments: Frame, state: Frame, scope: Scope) -> Frame:
    clean = comments.filter(nw.col("reason") == "")  # before the join: many comments are not clean
    return with_candidates(clean, state, scope).filter(nw.col("candidate"))


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
    parts = []
    for unit in units:
        relevant = [
            part.name
            for part, other in zip(authors, units, strict=True)
            if other.first_month <= unit.last_month
        ]
        frame = rows_of(
            engine, [unit], lambda rows: _candidates(rows, state, scope).select(*CANDIDATE_COLUMNS)
        )
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
