"""What the paper tells of its corpus, told of this one: sizes, shares, who uses the marker, and where."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from deadpan.corpus.census import Census
from deadpan.corpus.engine import files_of
from deadpan.corpus.months import month_name
from deadpan.corpus.outputs import Outputs
from deadpan.corpus.rules import literal

DIGITS = 6


def share(part: int, whole: int) -> float:
    """A share that prints the same everywhere."""
    return round(part / whole, DIGITS) if whole else 0.0


def statistics(
    outputs: Outputs, sarc: Path, threads: Path, census: Census, benchmarks: dict[str, Any]
) -> dict[str, Any]:
    """All of stats.json."""
    raw = _raw(outputs, sarc)
    return {
        "totals": {
            "comments": raw["comments"],
            "sarcastic": raw["sarcastic"],
            "share_sarcastic": share(raw["sarcastic"], raw["comments"]),
            "authors": raw["authors"],
            "subreddits": len(raw["subreddits"]),
        },
        "sequences": _sequences(outputs, threads),
        "benchmarks": benchmarks,
        "months": _months(census),
        "drops": census.reasons(),
        "subreddits": raw["subreddits"],
    }


def _raw(outputs: Outputs, sarc: Path) -> dict[str, Any]:
    source = f"read_parquet({literal(str(sarc))})"
    cursor = outputs.cursor()
    found = cursor.execute(f"SELECT count(*), count(DISTINCT author) FROM {source}").fetchall()
    by_subreddit = cursor.execute(
        f"SELECT subreddit, count(*), count(*) FILTER (label = 1) FROM {source}"
        " GROUP BY subreddit ORDER BY 2 DESC, 1"
    ).fetchall()
    return {
        "comments": found[0][0],
        "authors": found[0][1],
        "sarcastic": sum(sarcastic for _, _, sarcastic in by_subreddit),
        "subreddits": {
            name: {"comments": count, "sarcastic": sarcastic, "share_sarcastic": share(sarcastic, count)}
            for name, count, sarcastic in by_subreddit
        },
    }


def _sequences(outputs: Outputs, threads: Path) -> dict[str, Any]:
    """The mean is taken over exact fractions: a sum of floats would depend on its order."""
    query = (
        "SELECT sarcastic, replies, count(*) FROM (SELECT length(replace(labels, ' ', '')) AS replies,"
        " length(replace(replace(labels, ' ', ''), '0', '')) AS sarcastic"
        f" FROM {files_of(threads / 'sequences')}) GROUP BY ALL"
    )
    return mean_share(outputs.cursor().execute(query).fetchall())


def mean_share(rows: list[tuple[int, int, int]]) -> dict[str, Any]:
    """From (sarcastic replies, replies, how many sequences have so many)."""
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
            **{what: census.cells[m, what] for m, what in sorted(census.cells) if m == month},
            "authors": census.authors.get(month, 0),
            "authors_marking": census.marking.get(month, 0),
            "share_authors_marking": share(census.marking.get(month, 0), census.authors.get(month, 0)),
        }
        for month in months
    }
