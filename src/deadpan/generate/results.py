"""Results of generation: one step, and a whole run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deadpan.generate.draft import as_examples
from deadpan.generate.folder import MICRO, GenerationFolder
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Example
from deadpan.results import Result
from deadpan.storage import Manifest

REPORT = "report.html"


@dataclass(frozen=True, slots=True)
class StepResult(Result):
    """Dialogues one step read, kept and dropped by reason, and the cost of its calls."""

    step: str
    folder: Path
    read: int
    kept: int
    drops: Mapping[str, int]
    changes: Mapping[str, int]
    calls: int
    cost: float
    unpriced_calls: int

    @classmethod
    def of(cls, run: GenerationFolder, name: str, manifest: Manifest) -> StepResult:
        """Return the result of a finished step."""
        counts = manifest.counts
        return cls(
            name,
            run.step(name),
            counts["read"],
            counts["kept"],
            dict(manifest.drops),
            dict(manifest.changes),
            counts["calls"],
            counts["cost_micros"] / MICRO,
            counts["unpriced_calls"],
        )

    def summary(self) -> Summary:
        return Summary((_table([self]),), (f"kept and dropped dialogues: {self.folder}",))

    def as_dict(self) -> dict[str, object]:
        return {
            "step": self.step,
            "folder": str(self.folder),
            "read": self.read,
            "kept": self.kept,
            "drops": dict(self.drops),
            "changes": dict(self.changes),
            "calls": self.calls,
            "cost": self.cost,
            "unpriced_calls": self.unpriced_calls,
        }


@dataclass(frozen=True, slots=True, repr=False)
class GenerationResult(Result):
    """A run: its steps so far, the dollars spent over all its starts, and failed attempts by reason."""

    out: Path
    language: str
    steps: tuple[StepResult, ...]
    spent: float = 0.0
    retried: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    """Steps of the plan that are still to be run."""
    unsupported: tuple[str, ...] = ()
    """Parameters that a server does not take and that were therefore not sent."""

    @property
    def read(self) -> int:
        """Source dialogues read."""
        return self.steps[0].read if self.steps else 0

    @property
    def kept(self) -> int:
        """Dialogues the last step kept."""
        return self.steps[-1].kept if self.steps else 0

    @property
    def dropped(self) -> int:
        """Dialogues dropped by all steps."""
        return sum(sum(step.drops.values()) for step in self.steps)

    @property
    def report(self) -> Path:
        """The page about the run."""
        return self.out / REPORT

    def examples(self) -> Iterator[Example]:
        """Yield the dialogues the last step kept, labelled as the model was asked to write them."""
        run = GenerationFolder(self.out)
        for draft in run.drafts(run.last()):
            yield from as_examples(draft, self.language)

    def counts(self) -> dict[str, int]:
        """Return the counts of the whole run, for its manifest."""
        cost = sum(round(step.cost * MICRO) for step in self.steps)
        return {"read": self.read, "kept": self.kept, "dropped": self.dropped, "cost_micros": cost}

    def summary(self) -> Summary:
        notes = [f"read {self.read:,} = kept {self.kept:,} + dropped {self.dropped:,}"]
        if self.retried:
            notes.append("retried: " + ", ".join(f"{k} {n:,}" for k, n in sorted(self.retried.items())))
        unpriced = sum(step.unpriced_calls for step in self.steps)
        notes.append(
            f"spent ${self.spent:.4f}" + (f"; the price of {unpriced:,} calls is unknown" if unpriced else "")
        )
        if self.unsupported:
            notes.append(f"not sent, because a server does not take them: {', '.join(self.unsupported)}")
        if self.waiting:
            notes.append(f"not run yet: {', '.join(self.waiting)}")
        if self.report.is_file():
            notes.append(f"report: {self.report}")
        return Summary((_table(self.steps),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        return {
            "out": str(self.out),
            "report": str(self.report),
            **self.counts(),
            "spent": round(self.spent, 6),
            "retried": dict(self.retried),
            "waiting": list(self.waiting),
            "unsupported": list(self.unsupported),
            "steps": [step.as_dict() for step in self.steps],
        }

    def __repr__(self) -> str:
        return f"GenerationResult({str(self.out)!r}, {self.kept:,} of {self.read:,} dialogues kept)"


def _table(steps: Sequence[StepResult]) -> Table:
    rows = tuple((step.step, step.read, step.kept, _cost(step), _reasons(step)) for step in steps)
    return Table(("step", "read", "kept", "US $", "dropped; noticed"), rows)


def _cost(step: StepResult) -> str:
    if step.unpriced_calls:
        return "unknown"
    return f"{step.cost:.4f}" if step.calls else "-"


def _reasons(step: StepResult) -> str:
    drops = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step.drops.items())) or "-"
    changes = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step.changes.items()))
    return f"{drops}; {changes}" if changes else drops
