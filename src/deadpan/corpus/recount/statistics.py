"""The statistics of a corpus, counted again in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deadpan.corpus.recount.contents import SIDES, Contents
from deadpan.corpus.recount.node import Node
from deadpan.corpus.recount.selection import Selection

GONE = ("deleted", "deleted_later", "removed_later")


def statistics(selection: Selection, found: Contents) -> dict[str, Any]:
    """Return the contents of stats.json."""
    rows = [(row[3], int(row[0])) for row in found.rows]
    subreddits, sarcastic = Counter(name for name, _ in rows), Counter(name for name, label in rows if label)
    reasons = sorted({key.partition("/")[2] for key in selection.tally.by_month} - {"kept"})
    total, marked = len(rows), sarcastic.total()
    return {
        "totals": {
            "comments": total,
            "sarcastic": marked,
            "share_sarcastic": _share(marked, total),
            "authors": len({row[2] for row in found.rows}),
            "subreddits": len(subreddits),
        },
        "sequences": _means([branch.replies for branch in selection.sequences()]),
        "benchmarks": {
            folder: {side: _sizes(found.branches[f"{folder}/{side}.csv"]) for side in _sides(found, folder)}
            for folder in ("main", *sorted(selection.settings.benchmark.subsets))
        },
        "months": _months(selection),
        "drops": {reason: _of(selection, reason) for reason in reasons},
        "subreddits": {
            name: {
                "comments": count,
                "sarcastic": sarcastic[name],
                "share_sarcastic": _share(sarcastic[name], count),
            }
            for name, count in sorted(subreddits.items(), key=lambda one: (-one[1], one[0]))
        },
    }


def _sides(found: Contents, folder: str) -> list[str]:
    return [side for side in SIDES if f"{folder}/{side}.csv" in found.lines]


def _of(selection: Selection, reason: str) -> int:
    cells = selection.tally.by_month.items()
    return sum(count for key, count in cells if key.partition("/")[2] == reason)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def _means(groups: Sequence[Sequence[Node]]) -> dict[str, Any]:
    total = sum((Fraction(sum(one.marked for one in group), len(group)) for group in groups), Fraction(0))
    return {
        "count": len(groups),
        "replies": sum(map(len, groups)),
        "mean_share_sarcastic": round(float(total / len(groups)), 6) if groups else 0.0,
    }


def _sizes(groups: Sequence[Sequence[Node]]) -> dict[str, Any]:
    return {**_means(groups), "sarcastic": sum(one.marked for group in groups for one in group)}


def _months(selection: Selection) -> dict[str, dict[str, Any]]:
    cells: dict[str, dict[str, int]] = defaultdict(dict)
    for key, count in sorted(selection.tally.by_month.items()):
        month, _, reason = key.partition("/")
        cells[month][reason] = count
    authors: dict[str, set[str]] = defaultdict(set)
    marking: dict[str, set[str]] = defaultdict(set)
    for node in selection.comments.values():
        if node.author and not node.forgotten and not node.gone and not node.later:
            authors[node.month].add(node.author)
            if node.marked:
                marking[node.month].add(node.author)
    return {
        month: {
            **cells[month],
            "authors": len(authors[month]),
            "authors_marking": len(marking[month]),
            "share_authors_marking": _share(len(marking[month]), len(authors[month])),
        }
        for month in sorted(set(cells) | set(authors))
    }
