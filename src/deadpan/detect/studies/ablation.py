"""Ablation: the effect of context on a score (KoCoSa's Table 9), and scores per part (Table 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.arguments import check_examples, check_list, check_progress, check_settings, check_text
from deadpan.detect.studies.comparison import suitable_metrics
from deadpan.detect.studies.design import FOLDS, Design, Trial, divide, run_trial, source_name
from deadpan.detect.system import name_turns
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold, check_threshold
from deadpan.errors import ConfigError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import Interval, PairedDifference, ScoreTable, compare_predictions, score_predictions
from deadpan.stats.scores import is_loss, with_direction
from deadpan.stats.table import CONSTANT, NOTE, check_fits, constant_scores

TURNS: tuple[int | None, ...] = (0, 1, 2, 3, None)
LENGTHS = (5, 10, 20, 40)
"""Words: the upper ends of the classes of length."""
FEWEST = 10
"""Parts with fewer examples are scored together: their own scores would be noise."""
REST = "(fewer than 10 each)"
GROUPINGS = ("topic", "category", "length")
BY_TURNS = "turns"


@dataclass(frozen=True, slots=True, repr=False)
class Ablation(Result):
    """One score per number of context turns, or per part of the corpus.

    `gains` compares each number of turns with the first one (empty for parts of a corpus).
    """

    system: str
    source: str
    metric: str
    by: str
    scores: Mapping[str, Interval]
    gains: Mapping[str, PairedDifference]
    baseline: Mapping[str, float]
    design: Design
    seed: int

    def __repr__(self) -> str:
        return f"<Ablation of {self.system!r} on {self.source!r} by {self.by}, {len(self.scores)} rows>"

    def summary(self) -> Summary:
        """Return a row per number of turns, with its gain over the first; or a row per part."""
        first = next(iter(self.scores))
        rows: list[tuple[Cell, ...]] = [
            (name, value, *((self._gain(name),) if self.gains else ())) for name, value in self.scores.items()
        ]
        columns = (self.by, with_direction(self.metric), *((f"gain over {first}",) if self.gains else ()))
        constant = self.baseline.get(self.metric)
        notes = [
            f"{self.system} on {self.source}, {self.design.describe()}, n = {len(self.design.tested):,}; "
            f"{CONSTANT} on all: {'undefined' if constant is None else f'{constant:.3f}'}.",
            *self.design.notes(),
            f"{NOTE}.",
        ]
        return Summary((Table(columns, tuple(rows)),), tuple(notes))

    def _gain(self, name: str) -> str:
        """Return the gain over the first row, with its interval and whether it is significant.

        A lower value is a gain by a score of errors.
        """
        if name not in self.gains or self.gains[name].difference.value is None:
            return ""
        difference = self.gains[name].difference
        sign = 1 if is_loss(self.metric) else -1  # the difference is that of the first row minus this one
        ends = sorted(sign * end for end in (difference.low, difference.high) if end is not None)
        span = f" [{ends[0]:+.3f}, {ends[1]:+.3f}]" if len(ends) == 2 else ""
        gain = self.gains[name]
        unsettled = f"not settled ({gain.few_clusters})" if gain.few_clusters else "not significant"
        verdict = "significant" if gain.significant else unsettled
        return f"{sign * (difference.value or 0.0):+.3f}{span}, {verdict}"

    def as_dict(self) -> dict[str, object]:
        """Return the scores as `contexts`, with `differences`, or as `parts`."""
        values = {name: value.as_dict() for name, value in self.scores.items()}
        base = {
            "system": self.system, "data": self.source, "seed": self.seed, "metric": self.metric,
            "by": self.by, "constant_answer": dict(self.baseline), **self.design.as_dict(),
        }  # fmt: skip
        if self.by != BY_TURNS:
            return {**base, "parts": values}
        return {**base, "contexts": values, "differences": [gain.as_dict() for gain in self.gains.values()]}


def ablate(
    examples: Sequence[Example],
    system: str = "linear",
    *,
    turns: Sequence[int | None] = TURNS,
    by: str = BY_TURNS,
    metric: str | None = None,
    k: int = FOLDS,
    pool: bool = False,
    threshold: Threshold = DEFAULT_THRESHOLD,
    settings: Mapping[str, Any] | None = None,
    source: str = "",
    seed: int = 0,
    progress: Progress = silent,
) -> Ablation:
    """Score a system with more and less context on the same folds; or, with `by`, per part of the corpus.

    `by` is "turns", "topic", "category" or "length"; parts are scored with the last of `turns`. `divide`
    describes the guards.
    """
    examples, progress = check_examples(examples), check_progress(progress)
    own, turns = check_settings(settings), check_list(turns, "turns")
    if not turns:
        raise ConfigError("no turns to try: give numbers or full, such as 0,1,full")
    if check_text(by, "by") not in (BY_TURNS, *GROUPINGS):
        raise ConfigError(f"unknown grouping {by!r}: choose from {', '.join((BY_TURNS, *GROUPINGS))}")
    check_threshold(threshold)
    design = divide(examples, k=k, pool=pool)
    suited = suitable_metrics(design.tested)
    if metric is not None:
        check_fits(metric, design.tested)
    trials = {
        name_turns(count): run_trial(
            system, design, seed=seed, threshold=threshold, progress=progress,
            settings={**own, "turns": count},
        )
        for count in (turns if by == BY_TURNS else turns[-1:])
    }  # fmt: skip
    chosen = metric or suited[0]
    if by == BY_TURNS:
        scores, gains = _by_turns(design.tested, trials, chosen, seed)
    else:
        (trial,) = trials.values()
        tables = score_parts(design.tested, trial.predictions, by, seed)
        defined = all(table.score(chosen).value is not None for table in tables.values())
        if not metric and not defined:
            chosen = suited[1]  # pairs whose two responses fell into different parts
        scores, gains = {name: table.score(chosen) for name, table in tables.items()}, {}
    return Ablation(
        system, source or source_name(examples), chosen, by, scores, gains, constant_scores(design.tested), design, seed
    )


def _by_turns(
    examples: Sequence[Example], trials: Mapping[str, Trial], metric: str, seed: int
) -> tuple[dict[str, Interval], dict[str, PairedDifference]]:
    scores = {
        name: score_predictions(examples, trial.predictions, seed=seed).score(metric) for name, trial in trials.items()
    }
    if len(trials) < 2:
        return scores, {}
    first = next(iter(trials))
    answers = {name: trial.predictions for name, trial in trials.items()}
    pairs = compare_predictions(examples, answers, metric=metric)
    return scores, {pair.second: pair for pair in pairs if pair.first == first}


def score_parts(
    examples: Sequence[Example], predictions: Sequence[Prediction], grouping: str, seed: int = 0
) -> dict[str, ScoreTable]:
    """Score the parts of a corpus separately: one per topic, category or class of length."""
    by_id = {prediction.example_id: prediction for prediction in predictions}
    labelled = [example for example in examples if example.label is not None]
    parts = _merge_small(_parts(labelled, grouping))
    if grouping == "category":
        # A category is a kind of sarcasm: scoring it needs examples of the other label too.
        sincere = [example for example in labelled if not example.label]
        parts = {name: [*rows, *sincere] if all(e.label for e in rows) else rows for name, rows in parts.items()}
    order = (
        sorted(parts, key=lambda name: (name == REST, len(name.split()[0]), name))
        if grouping == "length"
        else sorted(parts, key=lambda name: (name == REST, -len(parts[name]), name))
    )
    return {
        name or "(none)": score_predictions(parts[name], [by_id[e.id] for e in parts[name]], seed=seed)
        for name in order
    }


def _parts(examples: Sequence[Example], grouping: str) -> dict[str, list[Example]]:
    parts: dict[str, list[Example]] = {}
    for example in examples:
        for name in _parts_of(example, grouping):
            parts.setdefault(name, []).append(example)
    if set(parts) <= {""}:
        raise ConfigError(f"no example has a {grouping}: use another grouping, or a corpus that has one")
    return parts


def _merge_small(parts: Mapping[str, list[Example]]) -> dict[str, list[Example]]:
    """Join the parts that are too small to be scored alone."""
    small = [name for name, rows in parts.items() if len(rows) < FEWEST]
    if len(small) < 2:
        return dict(parts)
    joined = {example.id: example for name in small for example in parts[name]}
    return {**{name: rows for name, rows in parts.items() if name not in small}, REST: list(joined.values())}


def _parts_of(example: Example, grouping: str) -> tuple[str, ...]:
    if grouping == "topic":
        meta = example.meta
        return (str(meta.get("topic") or meta.get("subreddit") or meta.get("show") or ""),)
    if grouping == "category":
        return example.categories
    words = len(example.response.text.split())
    low = 0
    for high in LENGTHS:
        if words <= high:
            return (f"{low + 1} to {high} words",)
        low = high
    return (f"{low + 1} words and more",)
