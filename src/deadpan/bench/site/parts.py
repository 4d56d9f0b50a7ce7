"""Runs on a part of the set: what they scored, beside the direct answers of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.comparison import compare_runs
from deadpan.bench.scores.score import RunScores, score_run
from deadpan.stats import Interval, PairedDifference


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A run on some items, and how its model does on these without reasoning, if that is known."""

    scores: RunScores
    set_size: int
    direct: Interval | None = None
    gap: PairedDifference | None = None


def part_entries(parts: Sequence[BenchRun], whole: Sequence[BenchRun], seed: int = 0) -> list[PartEntry]:
    """Return a row per complete run on a part of the set."""
    direct = {run.plan.model: run for run in whole if run.plan.system == run.plan.model}
    return [_entry(part, direct.get(part.plan.model), seed) for part in parts]


def _entry(part: BenchRun, direct: BenchRun | None, seed: int) -> PartEntry:
    scores = score_run(part, seed)
    if direct is None or part.plan.system == part.plan.model:
        return PartEntry(scores, part.plan.set_size)
    same = _on_items(direct, part.plan.items)
    (gap,) = compare_runs([part, same])
    return PartEntry(scores, part.plan.set_size, score_run(same, seed).avg, gap)


def _on_items(run: BenchRun, items: Sequence[str]) -> BenchRun:
    """Return the part of a whole run that asked some of its items."""
    wanted = set(items)
    kept = tuple(row for row in run.rows if row.item in wanted)
    return replace(run, plan=replace(run.plan, items=tuple(items)), rows=kept)
