"""Joining reruns. A rerun fills what an earlier run left open; it never replaces an answer that stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deadpan.bench.folder import RunFolder, begin, finish
from deadpan.bench.rows import Row
from deadpan.errors import DataError
from deadpan.fields import encode

SAME = ("model", "set", "set_hash", "items", "runs", "prompt", "temperature", "top_p", "seed", "shuffle")
"""What runs that are joined must have in common. Limits may differ: larger ones are why people rerun."""


def merge_runs(runs: Sequence[RunFolder], out: Path) -> tuple[bool, dict[str, int]]:
    """Write one run of several, earlier ones first; whether it is complete, and rows by where they came from.

    For every row the first run that settled it counts: an answer that is no error and was not cut off. Only
    where none did, the last answer that is there. So nobody can rerun until they like a row.
    """
    _check(runs)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; name another --out")
    kept: dict[tuple[str, int], Row] = {}
    for run in runs:
        # The whole path: reruns of one model have folders of one name.
        for row in run.rows:
            key, named = (row.item, row.run), replace(row, source=row.source or run.path.as_posix())
            if key not in kept or _open(kept[key]) > _open(named):
                kept[key] = named
    plan = runs[0].plan
    order = {item: place for place, item in enumerate(plan.items)}
    rows = sorted(kept.values(), key=lambda row: (order[row.item], row.run))
    limits = tuple(sorted({limit for run in runs for limit in run.plan.limits}))
    merged = replace(plan, limits=limits)
    begin(out, merged)
    complete = finish(out, merged, rows)
    return complete, dict(Counter(row.source for row in rows))


def _open(row: Row) -> int:
    """How far a row is from settled: 0 it is, 1 cut off, 2 no answer."""
    return 2 if row.error else 1 if row.truncated else 0


def _check(runs: Sequence[RunFolder]) -> None:
    if len(runs) < 2:
        raise DataError("a merge needs two runs or more: name the first run, then its rerun")
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise DataError("the same run was given twice: name each once, the earlier first")
    first = encode(runs[0].plan)
    for run in runs[1:]:
        other = encode(run.plan)
        for name in SAME:
            if first[name] != other[name]:
                raise DataError(
                    f"{run.path} differs from {runs[0].path} in {name}: only reruns of one and the same "
                    "question list can be joined"
                )
