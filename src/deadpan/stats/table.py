"""Every score of one system on one set of examples, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.records import Example, Prediction
from deadpan.stats.bootstrap import RESAMPLES, kinds_of_clusters, totals_interval
from deadpan.stats.calibration import Calibration, calibrate
from deadpan.stats.interval import LEVEL, FloatArray, Interval, undefined
from deadpan.stats.outcomes import SCORES, Block, Outcomes, match
from deadpan.stats.scores import remark


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a system scored, on how many examples, and how many of its answers could not be read."""

    scores: Mapping[str, Interval]
    n: int
    n_unread: int
    n_unlabelled: int
    n_clusters: int
    confusion: tuple[tuple[int, int, int], tuple[int, int, int]]
    calibration: Calibration
    seed: int

    def values(self) -> dict[str, float]:
        """The bare figures, those that are defined: what a Run keeps."""
        return {name: score.value for name, score in self.scores.items() if score.value is not None}

    def as_dict(self) -> dict[str, object]:
        """For a manifest or --json."""
        return {
            "scores": {name: score.as_dict() for name, score in self.scores.items()},
            "n": self.n,
            "n_unread": self.n_unread,
            "n_unlabelled": self.n_unlabelled,
            "n_clusters": self.n_clusters,
            "confusion": [list(row) for row in self.confusion],
            "calibration": self.calibration.as_dict(),
            "seed": self.seed,
        }


def score_predictions(
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> ScoreTable:
    """Score a system; intervals resample whole clusters of examples sharing a group or a sequence.

    An unread prediction (label None) counts as wrong and is reported apart in `n_unread`; an example
    without a label is left out and counted. Pair and sequence scores are there only where examples have
    sequences, `brier` only where predictions have scores; one that is there but cannot be had says why.
    The confusion table is truth (not, sarcastic) by answer (not, sarcastic, unread).
    """
    outcomes = match(examples, predictions)
    results: dict[str, Interval] = {}
    for block in _blocks(outcomes):
        results |= _score_block(outcomes, block, seed, level, resamples)
    table = outcomes.columns("confusion").sum(axis=0).astype(int).tolist()
    return ScoreTable(
        scores=results,
        n=len(outcomes.truth),
        n_unread=outcomes.n_unread,
        n_unlabelled=outcomes.n_unlabelled,
        n_clusters=len(np.unique(outcomes.clusters)),
        confusion=((table[0], table[1], table[2]), (table[3], table[4], table[5])),
        calibration=calibrate(outcomes.truth, outcomes.scores),
        seed=seed,
    )


def _blocks(outcomes: Outcomes) -> list[Block]:
    """The blocks worth showing: not those these data were never meant for."""
    blocks: list[Block] = ["confusion"]
    if any(outcomes.sequences):
        blocks += ["pairs", "sequences"]
    if any(score is not None for score in outcomes.scores):
        blocks.append("brier")
    return blocks


def _score_block(
    outcomes: Outcomes, block: Block, seed: int, level: float, resamples: int
) -> dict[str, Interval]:
    names = [name for name, score in SCORES.items() if score.block == block]
    if why := outcomes.why_not(block):
        return {name: undefined(why, len(outcomes.truth), level) for name in names}
    columns = outcomes.columns(block)
    kinds, multiplicity = kinds_of_clusters(columns, outcomes.clusters)
    sums = columns.sum(axis=0)
    return {
        name: totals_interval(
            kinds,
            multiplicity,
            SCORES[name].of,
            n=count_of(block, sums),
            why=remark(name, sums.reshape(2, 3)) if block == "confusion" else "",
            resamples=resamples,
            level=level,
            seed=seed,
        )
        for name in names
    }


def count_of(block: Block, sums: FloatArray) -> int:
    """How many things a block's scores are about: examples, pairs, sequences or scored examples."""
    return int(sums.sum() if block == "confusion" else sums[-1])
