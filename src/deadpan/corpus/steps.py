"""The steps of a build, in order: each is a command, and a method of `Build`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.errors import ConfigError
from deadpan.progress import Progress
from deadpan.registry import unknown
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

STEPS = {
    "ingest": "Read the dumps and apply the rules about a comment's own text (step 1 of 4).",
    "label": "Find the authors who know the marker, and the comments that remain (step 2 of 4).",
    "threads": "Find the comments under sarcasm, and the sequences (step 3 of 4).",
    "benchmark": "Draw the benchmarks and write every file (step 4 of 4); the same as build.",
}
LAST_STEP = list(STEPS)[-1]


SHARES = {"ingest": 60, "label": 8, "threads": 17, "benchmark": 15}
"""Rough shares of the time of a build, for the estimate of the rest."""

PER_MILLE = 1_000


class BuildSteps:
    """The steps of one build, with their progress as parts of the whole."""

    def __init__(self, until: str, progress: Progress) -> None:
        self.names = steps_until(until)
        self.progress = progress
        self.whole = sum(SHARES[name] for name in self.names)
        self.before = 0

    def start(self, name: str) -> Progress:
        """Return the function that reports how far one step is."""
        begin, share = self.before, SHARES[name]
        self.before += share
        self.progress(name, PER_MILLE * begin // self.whole, PER_MILLE)

        def report(detail: str, done: int, total: int) -> None:
            part = share * min(done, total) / total if total else 0
            shown = name if detail == name else f"{name}: {detail}"
            self.progress(shown, int(PER_MILLE * (begin + part) / self.whole), PER_MILLE)

        return report


def steps_until(name: str) -> list[str]:
    """Return the steps up to and including one."""
    steps = list(STEPS)
    if name not in steps:
        raise ConfigError(unknown("step", name, steps))
    return steps[: steps.index(name) + 1]


@dataclass(frozen=True, slots=True)
class PartialBuild(Result):
    """A build that was run up to one of its steps."""

    folder: Path
    step: str
    notes: tuple[str, ...] = ()

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary

        return Summary(notes=(f"{self.folder}: finished up to the step {self.step}.", *self.notes))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), "done": self.step, "notes": list(self.notes)}
