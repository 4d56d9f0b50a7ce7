"""Every score of one system on one set of examples, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_seed
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats.bootstrap import RESAMPLES, kinds_of_clusters, totals_interval
from deadpan.stats.calibration import Calibration, calibrate
from deadpan.stats.interval import LEVEL, FloatArray, Interval, check_level, interval_name, undefined
from deadpan.stats.outcomes import SCORES, Block, Outcomes, match
from deadpan.stats.ranking import auc_interval
from deadpan.stats.scores import remark

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


SEQUENCED = frozenset(name for name, score in SCORES.items() if score.block in ("pairs", "sequences"))
"""Scores of pairs and sequences; where no example has a sequence, a table has none of them."""


@dataclass(frozen=True, slots=True, repr=False)
class ScoreTable(Result):
    """The scores of a system with their intervals, and the number of examples and unread answers.

    `scores["macro_f1"]` is an Interval; `confusion` is truth (not sarcastic, sarcastic) by answer (not
    sarcastic, sarcastic, unread).
    """

    scores: Mapping[str, Interval]
    n: int
    n_unread: int
    n_unlabelled: int
    n_clusters: int
    confusion: tuple[tuple[int, int, int], tuple[int, int, int]]
    calibration: Calibration
    seed: int
    n_copies: int = 0

    def __repr__(self) -> str:
        return f"ScoreTable({len(self.scores)} scores, {self.n:,} examples, {self.n_unread:,} unread answers)"

    def summary(self) -> Summary:
        """Return the scores, the confusion table and the calibration errors."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        level = next((score.level for score in self.scores.values()), LEVEL)
        scores = Table(("score", f"value, {interval_name(level)}"), tuple(self.scores.items()))
        truths = ("not sarcastic", "sarcastic")
        rows = tuple((truth, *row) for truth, row in zip(truths, self.confusion, strict=True))
        answers = Table(("truth", "predicted not sarcastic", "predicted sarcastic", "unread"), rows)
        notes = [self.counts()]
        if self.calibration.ece_width is not None:
            notes.append(f"Expected calibration error: {self.calibration.ece_width:.3f}")
        return Summary((scores, answers), tuple(notes))

    def score(self, name: str) -> Interval:
        """Return a score; one that these examples or answers do not allow is undefined."""
        missing = undefined("no sequences" if name in SEQUENCED else "no prediction has a score", self.n)
        return self.scores.get(name, missing)

    def counts(self) -> str:
        """Return the number of examples and clusters, and what has no label or no answer, as one line."""
        line = f"{self.n:,} labelled examples in {self.n_clusters:,} clusters"
        if self.n_copies:
            line += f"; {self.n_copies:,} copies of others are in one cluster with them"
        if self.n_unlabelled:
            line += f"; {self.n_unlabelled:,} without a label excluded"
        if self.n_unread:
            right = self.confusion[0][0] + self.confusion[1][1]
            counts = "counts" if self.n_unread == 1 else "count"
            line += (
                f"; {self.n_unread:,} without an answer (cannot tell, or unreadable) {counts} as wrong, and "
                f"of the {self.n - self.n_unread:,} answered {right:,} {'is' if right == 1 else 'are'} right"
            )
        return line

    def as_dict(self) -> dict[str, object]:
        """Return all of it, for a manifest or `--json`."""
        return {
            "scores": {name: score.as_dict() for name, score in self.scores.items()},
            "n": self.n,
            "n_unread": self.n_unread,
            "n_unlabelled": self.n_unlabelled,
            "n_clusters": self.n_clusters,
            "n_copies": self.n_copies,
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
    """Score the predictions of one system, with bootstrap confidence intervals.

    Parameters
    ----------
    examples : the examples, with labels; those without a label are excluded and counted.
    predictions : one Prediction per example, in any order. One whose label is None could not be read: it
        counts as wrong and is counted in `n_unread`.
    seed, resamples : of the bootstrap, which resamples clusters of examples that share a group or a
        sequence, not single examples. Copies in no group or sequence are one cluster too.
    level : the confidence level.

    Pair and sequence scores are there if examples have sequences, `brier` if predictions have scores. A
    score that is undefined has the value None and the reason in `why`.

    >>> from deadpan import Example, Prediction, Turn, score
    >>> examples = [Example("a", Turn("", "Lovely rain."), label=True),
    ...             Example("b", Turn("", "It rains."), label=False)]
    >>> table = score(examples, [Prediction("a", True), Prediction("b", True)])
    >>> table.scores["recall"].value
    1.0
    """
    check_level(level)
    check_seed(seed)
    outcomes = match(examples, predictions)
    results: dict[str, Interval] = {}
    for block in _blocks(outcomes):
        results |= _score_block(outcomes, block, seed, level, resamples)
    if any(score is not None for score in outcomes.scores):
        results["auc"] = _auc(outcomes, seed, level, resamples)
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
        n_copies=outcomes.n_copies,
    )


def _blocks(outcomes: Outcomes) -> list[Block]:
    """Return the blocks of scores that fit the data."""
    blocks: list[Block] = ["confusion"]
    if any(outcomes.sequences):
        blocks += ["pairs", "sequences"]
    if any(score is not None for score in outcomes.scores):
        blocks.append("brier")
    return blocks


def _auc(outcomes: Outcomes, seed: int, level: float, resamples: int) -> Interval:
    """Return the area under the ROC curve of the examples that have a score."""
    scored = np.array([score is not None for score in outcomes.scores], dtype=bool)
    return auc_interval(
        np.array(outcomes.truth, dtype=bool)[scored],
        np.array([score for score in outcomes.scores if score is not None], dtype=np.float64),
        outcomes.clusters[scored],
        resamples=resamples,
        level=level,
        seed=seed,
    )


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
            limits=(0.0, 1.0),
            whole=SCORES[name].whole,
        )
        for name in names
    }


def count_of(block: Block, sums: FloatArray) -> int:
    """Return how many things a block's scores are about: examples, pairs, sequences or scored examples."""
    return int(sums.sum() if block == "confusion" else sums[-1])
