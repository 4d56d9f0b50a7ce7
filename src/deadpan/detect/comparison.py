"""Several systems on the same folds, the best first, and which of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from deadpan.detect.blend import blend_scores
from deadpan.detect.system import Progress, silent
from deadpan.detect.validation import Trial, cross_validate
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.stats import Comparison, Interval, ScoreTable, compare_systems, score_predictions
from deadpan.stats.outcomes import score_named

SURE = 0.05
BLENDED = "all, blended"


@dataclass(frozen=True, slots=True)
class Row:
    """One system: its scores with the first seed, their mean and spread over all, its cost."""

    system: str
    scores: Mapping[str, Interval]
    over_seeds: Mapping[str, tuple[float, float]]
    cost: Mapping[str, float]
    n_unread: int
    verdict: str
    predictions: list[Prediction]


@dataclass(frozen=True, slots=True)
class Compared:
    """The table, best first."""

    by: str
    shown: list[str]
    seeds: list[int]
    rows: list[Row]
    pairs: list[Comparison]

    def as_dict(self) -> dict[str, object]:
        """For --json."""
        return {
            "by": self.by,
            "seeds": self.seeds,
            "systems": {
                row.system: {
                    "scores": {name: value.as_dict() for name, value in row.scores.items()},
                    "over_seeds": {name: list(pair) for name, pair in row.over_seeds.items()},
                    "cost": dict(row.cost),
                    "n_unread": row.n_unread,
                    "verdict": row.verdict,
                }
                for row in self.rows
            },
            "comparisons": [pair.as_dict() for pair in self.pairs],
        }


def suited(examples: Sequence[Example]) -> list[str]:
    """The scores people report on such data, the main one first."""
    labels: dict[str, list[bool]] = {}
    for example in examples:
        if example.label is not None and example.sequence:
            labels.setdefault(example.sequence, []).append(example.label)
    if labels and all(sorted(pair) == [False, True] for pair in labels.values()):
        return ["pair_accuracy", "accuracy"]
    truths = [example.label for example in examples if example.label is not None]
    share = sum(truths) / max(len(truths), 1)
    even = 0.35 <= share <= 0.65
    return ["balanced_accuracy", "f1"] if even else ["f1", "balanced_accuracy"]


def compare(
    settings: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    *,
    k: int = 5,
    seeds: Sequence[int] = (0,),
    rule: str | float = 0.5,
    by: str | None = None,
    blend: bool = False,
    also: Sequence[Example] = (),
    progress: Progress = silent,
) -> Compared:
    """Cross-validate every system by the same folds; `settings` has one entry a system.

    `blend` adds a row that weighs all of them by what they said of other folds; `also` are more examples to
    learn from in every fold.
    """
    if not settings or not seeds:
        raise ConfigError("a comparison needs a system and a seed: name some")
    kept = [example for example in examples if example.label is not None]
    if not kept:
        raise DataError("a comparison needs labelled examples: there is none")
    shown = suited(kept)
    by = by or shown[0]
    score_named(by)
    shown = list(dict.fromkeys([by, *shown]))
    first: dict[str, Trial] = {}
    tables: dict[str, list[ScoreTable]] = {}
    for system, own in settings.items():
        trials = [
            cross_validate(
                system, kept, k=k, seed=seed, rule=rule, settings=own, also=also, progress=progress
            )
            for seed in seeds
        ]
        first[system] = trials[0]
        tables[system] = [score_predictions(kept, trial.predictions, seed=0) for trial in trials]
    if blend:
        first[BLENDED], tables[BLENDED] = _blended(first, kept, k)
    pairs = (
        compare_systems(kept, {name: trial.predictions for name, trial in first.items()}, score=by)
        if len(first) > 1
        else []
    )
    order = sorted(first, key=lambda name: -(tables[name][0].scores[by].value or 0.0))
    rows = [
        Row(
            name,
            tables[name][0].scores,
            {score: _over(tables[name], score) for score in shown},
            first[name].cost(),
            tables[name][0].n_unread,
            _verdict(name, order[0], pairs),
            first[name].predictions,
        )
        for name in order
    ]
    return Compared(by, shown, list(seeds), rows, pairs)


def _blended(
    trials: Mapping[str, Trial], examples: Sequence[Example], k: int
) -> tuple[Trial, list[ScoreTable]]:
    said = blend_scores([trial.predictions for trial in trials.values()], examples, k)
    cost = [
        sum(getattr(trial, name) for trial in trials.values()) for name in ("fit_seconds", "predict_seconds")
    ]
    whole = Trial(BLENDED, said, (0.5,) * k, cost[0], cost[1])
    return whole, [score_predictions(examples, said, seed=0)]


def _over(tables: Sequence[ScoreTable], score: str) -> tuple[float, float]:
    values = [table.scores[score].value or 0.0 for table in tables]
    return fmean(values), stdev(values) if len(values) > 1 else 0.0


def _verdict(name: str, best: str, pairs: Sequence[Comparison]) -> str:
    if name == best:
        return "best"
    for pair in pairs:
        if {pair.first, pair.second} == {name, best}:
            if pair.p_holm is None:
                return "cannot be compared"
            word = "worse" if pair.p_holm < SURE else "not different from the best"
            return f"{word}, p {pair.p_holm:.3f}"
    return ""
