"""Statistics of a corpus, as in the paper: sizes, shares, and use of the marker by month and subreddit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw

from deadpan.corpus.engines.engine import Engine
from deadpan.corpus.months import month_name
from deadpan.corpus.relate.census import Census
from deadpan.corpus.sql import parquet_files

DIGITS = 6


def share(part: int, whole: int) -> float:
    """Return a share, rounded so that it prints the same on every machine."""
    return round(part / whole, DIGITS) if whole else 0.0


def compute_statistics(
    engine: Engine, rows: Sequence[Path], threads: Path, census: Census, benchmarks: dict[str, Any]
) -> dict[str, Any]:
    """Return the contents of stats.json; `rows` are the files of the raw corpus."""
    subreddits = _subreddits(engine, rows)
    authors = engine.scan(rows).select("author").unique().select(authors=nw.len())
    comments = sum(facts["comments"] for facts in subreddits.values())
    sarcastic = sum(facts["sarcastic"] for facts in subreddits.values())
    return {
        "totals": {
            "comments": comments,
            "sarcastic": sarcastic,
            "share_sarcastic": share(sarcastic, comments),
            "authors": engine.collect(authors)["authors"][0].as_py(),
            "subreddits": len(subreddits),
        },
        "sequences": _sequences(engine, threads),
        "benchmarks": benchmarks,
        "months": _months(census),
        "drops": census.reasons(),
        "subreddits": subreddits,
    }


def _subreddits(engine: Engine, rows: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return comments and sarcastic comments by subreddit, the largest first."""
    label = nw.col("label").cast(nw.Int64)
    frame = engine.scan(rows).group_by("subreddit").agg(comments=nw.len(), sarcastic=label.sum())
    found = engine.collect(frame).to_pylist()
    return {
        row["subreddit"]: {
            "comments": row["comments"],
            "sarcastic": int(row["sarcastic"]),
            "share_sarcastic": share(int(row["sarcastic"]), row["comments"]),
        }
        for row in sorted(found, key=lambda row: (-row["comments"], row["subreddit"]))
    }


def _sequences(engine: Engine, threads: Path) -> dict[str, Any]:
    """Count the sequences; the mean is of exact fractions, since a sum of floats depends on its order."""
    labels = nw.col("labels").str.replace_all(" ", "", literal=True)
    ones = labels.str.replace_all("0", "", literal=True)
    frame = engine.scan(parquet_files(threads / "sequences")).select(
        replies=labels.str.len_chars(), sarcastic=ones.str.len_chars()
    )
    rows = engine.collect(frame.group_by("sarcastic", "replies").agg(times=nw.len())).to_pylist()
    return mean_share([(row["sarcastic"], row["replies"], row["times"]) for row in rows])


def mean_share(rows: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Return count, replies and mean share from (sarcastic replies, replies, number of sequences)."""
    count = sum(times for _, _, times in rows)
    total = sum((Fraction(sarcastic * times, replies) for sarcastic, replies, times in rows), Fraction(0))
    return {
        "count": count,
        "replies": sum(replies * times for _, replies, times in rows),
        "mean_share_sarcastic": round(float(total / count), DIGITS) if count else 0.0,
    }


def _months(census: Census) -> dict[str, dict[str, Any]]:
    months = sorted({month for month, _ in census.cells} | set(census.authors))
    return {
        month_name(month): {
            **{reason: census.cells[m, reason] for m, reason in sorted(census.cells) if m == month},
            "authors": census.authors.get(month, 0),
            "authors_marking": census.marking.get(month, 0),
            "share_authors_marking": share(census.marking.get(month, 0), census.authors.get(month, 0)),
        }
        for month in months
    }
