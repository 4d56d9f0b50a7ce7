"""Measurements that papers share: exact counts, means, and sizes of corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deadpan.reproduce.published import Measured, read_paper, same_count
from deadpan.reproduce.trials import Job, TrialRunner, cells_of
from deadpan.stats import Interval, bootstrap_interval, wilson
from deadpan.stats.interval import LEVEL

_COLUMNS = ("Sarcastic", "Total")


def exact(value: float, n: int = 0) -> Interval:
    """Return a count, which has no interval."""
    return Interval(float(value), None, None, LEVEL, n or int(value))


def mean_of(values: Sequence[float]) -> Interval:
    """Return a mean with its bootstrap interval."""
    numbers = np.asarray(values, dtype=np.float64)
    return bootstrap_interval(lambda rows: float(numbers[rows].mean()), [""] * len(numbers), resamples=500)


def percent(part: int, whole: int) -> Interval:
    """Return a share in per cent with its interval."""
    share = wilson(part, whole)
    value, low, high = (None if x is None else 100 * x for x in (share.value, share.low, share.high))
    return Interval(value, low, high, share.level, share.n, share.why)


def size_jobs(paper: str, exhibit: str, corpora: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> list[Job]:
    """Return a job per corpus: how many of its examples are sarcastic, and how many there are.

    `corpora` maps rows of the table to readers whose examples are added up; `notes` why a release of today
    has another size than the paper.
    """
    return [_job(paper, exhibit, row, sources, notes.get(row, "")) for row, sources in corpora.items()]


def _job(paper: str, exhibit: str, row: str, sources: Sequence[str], note: str) -> Job:
    ids = cells_of(exhibit, [row], _COLUMNS)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        counts = {"sarcastic": 0, "all": 0}
        for source in sources:
            found = sizes_of(runner, source)
            counts = {name: counts[name] + found[name] for name in counts}
        gone = "; ".join(filter(None, (runner.missing(source) for source in sources)))
        how = f"counted in {', '.join(sources)} as read here"
        cells = {cell.id: cell for cell in read_paper(paper).cells() if cell.id in ids}
        # A copy that is as large as published is whole, whatever files it consists of.
        whole = all(same_count(n, cells[id]) for id, n in zip(ids, counts.values(), strict=True))
        need = "" if whole else f"data: {gone or note}" if gone or note else ""
        return {
            id: Measured(exact(n), how=how, needs=need, reason="another release of the corpus")
            for id, n in zip(ids, counts.values(), strict=True)
        }

    return Job(f"{exhibit} {row}", ids, work, sources=tuple(sources))


def sizes_of(runner: TrialRunner, source: str) -> dict[str, int]:
    """Return how many examples of a corpus are sarcastic, and how many there are."""
    found = runner.once(f"size {source}", {}, lambda: count(runner, source), sources=(source,))
    return {"sarcastic": found["sarcastic"], "all": found["all"]}


def count(runner: TrialRunner, source: str) -> dict[str, int]:
    """Count the examples of a corpus by label."""
    counts = runner.corpus(source).counts
    return {"sarcastic": counts["sarcastic"], "all": sum(counts.values())}
