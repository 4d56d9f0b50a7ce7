"""Answers of one system trained with several seeds: their mean scores, and whether any answer is constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev

import numpy as np

from deadpan.records import Example, Prediction
from deadpan.splits import Fold
from deadpan.stats import Interval
from deadpan.stats.bootstrap import kinds_of_clusters, totals_interval
from deadpan.stats.interval import FloatArray
from deadpan.stats.outcomes import SCORES, match
from deadpan.stats.scores import confusion_columns

SIGNS = {True: "1", False: "0", None: "-"}
TABLE = 6
"""Columns of a flattened confusion table: truth by answer, with unread answers."""


@dataclass(frozen=True, slots=True)
class SeedAnswers:
    """Truth and answers of one seed as a journal keeps them: a sign per example, and its cluster.

    `constant` is the number of folds in which every answer was the same, of `folds`.
    """

    truth: str
    answers: str
    clusters: tuple[int, ...]
    constant: int
    folds: int

    def columns(self) -> FloatArray:
        """Return the confusion columns of each example."""
        signs = {sign: value for value, sign in SIGNS.items()}
        return confusion_columns([sign == "1" for sign in self.truth], [signs[sign] for sign in self.answers])

    @property
    def always(self) -> str:
        """The only answer given, empty if there are two."""
        names = {"1": "sarcastic", "0": "not sarcastic", "-": "unread"}
        return names[self.answers[0]] if len(set(self.answers)) == 1 else ""


def answers_of(
    examples: Sequence[Example], predictions: Sequence[Prediction], folds: Sequence[Fold]
) -> SeedAnswers:
    """Return the answers of a trial in the order of the examples."""
    outcomes = match(examples, predictions)
    labels = {prediction.example_id: prediction.label for prediction in predictions}
    same = sum(len({labels[example.id] for example in fold.test}) == 1 for fold in folds)
    return SeedAnswers(
        "".join(SIGNS[label] for label in outcomes.truth),
        "".join(SIGNS[label] for label in outcomes.answers),
        tuple(int(code) for code in outcomes.clusters),
        same,
        len(folds),
    )


def mean_scores(seeds: Sequence[SeedAnswers]) -> dict[str, Interval]:
    """Return the mean over seeds of every score of a confusion table.

    The interval is a bootstrap over examples, in which each resample holds the same examples for all
    seeds: it is the uncertainty of the mean on another test set, with these trained models.
    """
    columns = np.concatenate([each.columns() for each in seeds], axis=1)
    kinds, multiplicity = kinds_of_clusters(columns, np.array(seeds[0].clusters, dtype=np.int64))
    found = {}
    for name, score in SCORES.items():
        if score.block != "confusion":
            continue

        def mean(sums: FloatArray, of: object = score.of) -> FloatArray:
            tables = sums.reshape(*sums.shape[:-1], len(seeds), TABLE)
            values: FloatArray = of(tables).mean(axis=-1)  # type: ignore[operator]
            return values

        found[name] = totals_interval(kinds, multiplicity, mean, n=len(seeds[0].truth))
    return found


def spread(tables: Sequence[dict[str, Interval]], metric: str = "f1") -> str:
    """Return each seed's F and their standard deviation; empty for one seed."""
    values = [table[metric].value or 0.0 for table in tables]
    if len(values) < 2:
        return ""
    each = ", ".join(f"{value:.3f}" for value in values)
    return f"; mean of {len(values)} seeds, F {each} (standard deviation {stdev(values):.3f})"


def all_constant(seeds: Sequence[SeedAnswers]) -> bool:
    """Return whether every seed gives one answer to every text."""
    return all(each.always for each in seeds)


def constancy(seeds: Sequence[SeedAnswers]) -> str:
    """Return where one answer is given to every text, to follow a description; empty if nowhere."""
    if all_constant(seeds):
        names = " or ".join(dict.fromkeys(each.always for each in seeds))
        return f"; a constant answer: {names} to every text"
    same, folds = sum(each.constant for each in seeds), sum(each.folds for each in seeds)
    return f"; a constant answer in {same} of {folds} trainings" if same else ""


def f1_of_always(answers: SeedAnswers) -> float:
    """Return the F-score of answering "sarcastic" to every text."""
    sarcastic = answers.truth.count("1")
    return 2 * sarcastic / max(sarcastic + len(answers.truth), 1)
