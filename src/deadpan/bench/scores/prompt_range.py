"""Scores over several prompts: how much of a score is the wording of the prompt and the order of the options.

The paper's prompt is the headline. A model's runs by other prompts stand beside it, and are no rows of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.score import item_answers, mean_interval, score_run
from deadpan.page.table import Cell, Table
from deadpan.stats import Interval
from deadpan.validation import encode


@dataclass(frozen=True, slots=True)
class PromptRange:
    """One model asked by several prompts, the paper's first if it was among them."""

    model: str
    scores: tuple[tuple[str, Interval], ...]
    """Avg@k by prompt."""
    flips: Interval
    """The share of items whose most frequent answer is not the same by every prompt."""

    @property
    def values(self) -> list[float]:
        return [score.value or 0.0 for _, score in self.scores]

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def spread(self) -> float:
        """The best score less the worst."""
        return max(self.values) - min(self.values)

    def as_dict(self) -> dict[str, object]:
        """Return every score, and mean, worst, spread and flips."""
        found = {"model": self.model, "scores": {name: encode(score) for name, score in self.scores}}
        return {**found, "mean": self.mean, "worst": min(self.values), "spread": self.spread,
                "flips": encode(self.flips)}  # fmt: skip


def headlines(runs: Sequence[BenchRun]) -> list[BenchRun]:
    """Return the runs by prompts of the package; of a model that has none, those by one's own."""
    known = {run.plan.model for run in runs if not run.plan.own_prompt}
    return [run for run in runs if not run.plan.own_prompt or run.plan.model not in known]


def prompt_ranges(runs: Sequence[BenchRun], seed: int = 0) -> tuple[PromptRange, ...]:
    """Return the range of every model that was asked by a prompt of one's own and by another prompt."""
    by_model: dict[str, list[BenchRun]] = {}
    for run in sorted(runs, key=lambda run: run.plan.own_prompt):  # the paper's has no name and comes first
        if run.plan.own_prompt or run.plan.system == run.plan.model:
            by_model.setdefault(run.plan.model, []).append(run)
    return tuple(
        _range(model, own, seed) for model, own in by_model.items() if len(own) > 1 and own[-1].plan.own_prompt
    )


def _range(model: str, runs: Sequence[BenchRun], seed: int) -> PromptRange:
    scores = tuple((run.plan.prompt.partition("/")[0], score_run(run, seed).avg) for run in runs)
    asked = [{each.item: each for each in item_answers([row for row in run.rows if not row.error])} for run in runs]
    shared = [item for item in asked[0] if all(item in each for each in asked)]
    flipped = [float(len({each[item].plurality for each in asked}) > 1) for item in shared]
    return PromptRange(model, scores, mean_interval(flipped, [asked[0][item].family for item in shared], seed))


def prompt_tables(ranges: Sequence[PromptRange]) -> tuple[Table, ...]:
    """Return the score by every prompt, then mean, worst, spread and flips; nothing without several prompts."""
    if not ranges:
        return ()
    scores: list[tuple[Cell, ...]] = [(each.model, name, score) for each in ranges for name, score in each.scores]
    rows: list[tuple[Cell, ...]] = [
        (each.model, len(each.scores), each.mean, min(each.values), each.spread, each.flips) for each in ranges
    ]
    columns = ("model", "prompts", "mean", "worst", "spread", "items that flip")
    return (
        Table(("model", "prompt", "Avg@k"), tuple(scores), "Accuracy by prompt"),
        Table(columns, tuple(rows), "Range over prompts; all but the paper's show options in a drawn order"),
    )
