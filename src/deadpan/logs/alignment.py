"""Alignment of logs: the items that all systems answered, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from deadpan.errors import DataError
from deadpan.logs.log import ScoredItem, ScoreLog
from deadpan.stats.interval import FloatArray

Systems = Mapping[str, Mapping[str, ScoredItem]]
Unscored = Literal["exclude", "zero"]
UNSCORED: tuple[Unscored, ...] = ("exclude", "zero")
"""The treatment of items that a system has no score for: leave them out for all systems, or count as 0."""


def align(systems: Systems, unscored: Unscored) -> tuple[list[str], dict[str, FloatArray], list[str]]:
    """Return the common items, the scores of each system on them, and remarks on what was left out."""
    every = list(dict.fromkeys(item for rows in systems.values() for item in rows))
    common = [item for item in every if all(item in rows for rows in systems.values())]
    if not common:
        (one, first), (other, second) = list(systems.items())[:2]
        raise DataError(
            f"{one} and {other} have no item in common (such as {next(iter(first), '')[:80]!r} and "
            f"{next(iter(second), '')[:80]!r}): compare results on the same items"
        )
    _check_questions(systems, common)
    remarks = []
    if len(common) < len(every):
        remarks.append(f"{_left_out(len(every) - len(common), 'not in all logs')}.")
    scored = [item for item in common if all(rows[item].score is not None for rows in systems.values())]
    if len(scored) < len(common) and unscored == "exclude":
        by = {name: sum(rows[item].score is None for item in common) for name, rows in systems.items()}
        worst = ", ".join(f"{name} {count:,}" for name, count in by.items() if count)
        remarks.append(f"{_left_out(len(common) - len(scored), 'without a score')} ({worst}).")
    kept = scored if unscored == "exclude" else common
    if not kept:
        raise DataError(
            "no item has a score from every system: count missing scores as 0 with --unscored zero"
        )
    return kept, {name: np.array([rows[item].score or 0.0 for item in kept], dtype=np.float64)
                  for name, rows in systems.items()}, remarks  # fmt: skip


def _check_questions(systems: Systems, common: Sequence[str]) -> None:
    """Refuse logs in which one id stands for different questions."""
    differing = [
        item for item in common if len({rows[item].question for rows in systems.values()} - {""}) > 1
    ]
    if differing:
        raise DataError(
            f"{len(differing):,} of {len(common):,} items have different questions in different logs, first "
            f"{differing[0]!r}: compare results on the same version of the data"
        )


def clusters_by_item(systems: Systems, items: Sequence[str]) -> list[str]:
    """Return the cluster of each item; logs that name another one for the same item are refused."""
    found = [{rows[item].cluster for rows in systems.values()} - {""} for item in items]
    differing = [(item, names) for item, names in zip(items, found, strict=True) if len(names) > 1]
    if differing:
        item, names = differing[0]
        raise DataError(
            f"item {item!r} is in the clusters {' and '.join(map(repr, sorted(names)))} in different logs: "
            "give every item one cluster"
        )
    return [next(iter(names), "") for names in found]


def _left_out(n: int, why: str) -> str:
    return f"1 item {why} is left out" if n == 1 else f"{n:,} items {why} are left out"


def by_system(logs: Sequence[ScoreLog]) -> dict[str, dict[str, ScoredItem]]:
    """Return the items of each system. Logs of one system are joined, unless they are of the same items."""
    found: dict[str, list[ScoreLog]] = {}
    for log in logs:
        found.setdefault(log.system, []).append(log)
    systems: dict[str, dict[str, ScoredItem]] = {}
    for system, same in found.items():
        total = sum(len(log.items) for log in same)
        joined = {item: row for log in same for item, row in log.items.items()}
        if len(joined) == total:
            systems[system] = joined
            continue
        for log in same:
            stem = log.path.stem if log.path.is_file() else log.path.name
            name = stem if len(found) == 1 else f"{system} ({stem})"
            systems[name if name not in systems else str(log.path)] = dict(log.items)
    return systems
