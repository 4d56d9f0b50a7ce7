"""Merging a run with its reruns. A rerun fills gaps; it never replaces a final answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.bench.runs.folder import BenchRun, begin, find_runs, finish
from deadpan.bench.runs.rows import AnswerRow
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.results import Result
from deadpan.validation import encode

SAME = ("model", "set", "set_hash", "items", "runs", "prompt", "temperature", "top_p", "seed", "shuffle")
"""Fields that merged runs must have in common. Token limits may differ: they are why people rerun."""


@dataclass(frozen=True, slots=True)
class MergedRun(Result):
    """A merged run, with the number of rows from each source."""

    out: Path
    complete: bool
    sources: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """Return the folder, whether it is complete, and rows per source."""
        return {"out": str(self.out), "complete": self.complete, "rows_from": dict(self.sources)}

    def summary(self) -> Summary:
        """Return one row per source."""
        table = Table(("rows from", "rows"), tuple(self.sources.items()))
        return Summary((table,), (f"{self.out}: {'complete' if self.complete else 'INCOMPLETE'}",))


def merge_runs(folders: Sequence[Path], out: Path) -> MergedRun:
    """Write one run from several, earlier ones first.

    Each row comes from the first run with a final answer: no error and not cut off. Where no run has one, the
    last answer counts. So nobody can repeat a run until they like its answers.
    """
    runs, out = find_runs(folders), Path(out)
    _check(runs)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
    kept: dict[tuple[str, int], AnswerRow] = {}
    for run in runs:
        # The full path, since reruns of one model have folders of the same name.
        for row in run.rows:
            key, named = (row.item, row.run), replace(row, source=row.source or run.path.as_posix())
            if key not in kept or _openness(kept[key]) > _openness(named):
                kept[key] = named
    plan = runs[0].plan
    order = {item: place for place, item in enumerate(plan.items)}
    rows = sorted(kept.values(), key=lambda row: (order[row.item], row.run))
    limits = tuple(sorted({limit for run in runs for limit in run.plan.limits}))
    merged = replace(plan, limits=limits)
    begin(out, merged)
    complete = finish(out, merged, rows)
    return MergedRun(out, complete, dict(Counter(row.source for row in rows)))


def _openness(row: AnswerRow) -> int:
    """Return 0 for a final answer, 1 for one that was cut off, 2 for none."""
    return 2 if row.error else 1 if row.truncated else 0


def _check(runs: Sequence[BenchRun]) -> None:
    if len(runs) < 2:
        raise DataError("a merge needs two runs or more: give the first run, then its rerun")
    first = encode(runs[0].plan)
    for run in runs[1:]:
        other = encode(run.plan)
        for name in SAME:
            if first[name] != other[name]:
                raise DataError(
                    f"{run.path} differs from {runs[0].path} in {name}: only reruns of the same questions "
                    "can be merged"
                )
