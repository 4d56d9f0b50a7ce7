"""The scores of several systems on the same examples, and their paired comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from deadpan.arguments import check_mapping, check_predictions
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats.bootstrap import RESAMPLES
from deadpan.stats.constant import CONSTANT, NOTE, constant_scores
from deadpan.stats.interval import LEVEL, check_level, interval_name, undefined
from deadpan.stats.outcomes import Outcomes, match, score_named
from deadpan.stats.paired import Comparisons, PairedDifference, paired_difference
from deadpan.stats.scores import remark
from deadpan.stats.table import ScoreTable, count_of, score_predictions

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True, repr=False)
class SystemScores(Result):
    """A ScoreTable per system, the comparisons of all pairs, and the scores of a constant answer."""

    tables: Mapping[str, ScoreTable]
    comparisons: Comparisons
    constant: Mapping[str, float]

    def __repr__(self) -> str:
        return f"SystemScores({len(self.tables)} systems, {len(self.comparisons)} comparisons)"

    def as_dict(self) -> dict[str, object]:
        """Return scores and comparisons, for `--json`."""
        return {
            "systems": {name: table.as_dict() for name, table in self.tables.items()},
            "constant_answer": dict(self.constant),
            **self.comparisons.as_dict(),
        }

    def summary(self) -> Summary:
        """Return the scores with one column per system, then the comparisons."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        names = list(dict.fromkeys(name for table in self.tables.values() for name in table.scores))
        rows = tuple(
            (name, *(table.scores.get(name) for table in self.tables.values()), self.constant.get(name))
            for name in names
        )
        notes = [f"{name}: {table.counts()}" for name, table in self.tables.items()]
        levels = {score.level for table in self.tables.values() for score in table.scores.values()}
        notes += [f"In brackets: the {interval_name(level)}." for level in levels]
        tables = [Table(("score", *self.tables, CONSTANT), rows)]
        notes.append(f"{NOTE}.")
        if self.comparisons:
            compared = self.comparisons.summary()
            tables += compared.tables
            notes += compared.notes
        return Summary(tuple(tables), tuple(notes))


def score_systems(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[Prediction]],
    metric: str = "macro_f1",
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> SystemScores:
    """Score the predictions of each system, and compare all pairs of systems by `metric`."""
    check_mapping(systems, "systems", "pass {name: predictions}")
    score_named(metric)
    if not systems:
        raise ConfigError("there are no systems to score: pass {name: predictions}")
    tables = {
        name: score_predictions(examples, predictions, seed, level, resamples)
        for name, predictions in systems.items()
    }
    constant = constant_scores(examples)
    if len(systems) == 1:
        return SystemScores(tables, Comparisons(()), constant)
    comparisons = compare_predictions(examples, systems, metric, level)
    return SystemScores(tables, comparisons, constant)


def compare_predictions(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[Prediction]],
    metric: str = "accuracy",
    level: float = LEVEL,
) -> Comparisons:
    """Compare the predictions of every pair of systems on the same examples.

    Parameters
    ----------
    examples : the examples, with labels. Those that share a group or a sequence are one cluster.
    systems : a mapping from the name of a system to its list of Predictions, one per example.
    metric : the score to compare by, such as "accuracy", "macro_f1" or "pair_accuracy".
    level : the level of the confidence intervals and of the verdicts.

    Returns a sequence with one PairedDifference per pair: the difference with its confidence interval and
    the p value of the same test, adjusted by Holm's method.

    >>> from deadpan import Prediction, read_dataset
    >>> from deadpan.stats import compare_predictions
    >>> examples = read_dataset("starter-en").examples
    >>> systems = {"always": [Prediction(e.id, True) for e in examples],
    ...            "never": [Prediction(e.id, False) for e in examples]}
    >>> compare_predictions(examples, systems)[0].verdict
    'no difference found'
    """
    check_level(level)
    score_named(metric)
    check_mapping(systems, "systems", "pass {name: predictions}")
    if len(systems) < 2:
        raise ConfigError(f"a comparison needs at least two systems: got {len(systems)}")
    outcomes = {name: match(examples, check_predictions(rows)) for name, rows in systems.items()}
    return Comparisons.adjusted(
        _compare((one, other), (outcomes[one], outcomes[other]), metric, level)
        for one, other in combinations(systems, 2)
    )


def _compare(
    names: tuple[str, str], outcomes: tuple[Outcomes, Outcomes], metric: str, level: float
) -> PairedDifference:
    score, n = score_named(metric), len(outcomes[0].truth)
    if why := outcomes[0].why_not(score.block) or outcomes[1].why_not(score.block):
        clusters = len(set(outcomes[0].clusters.tolist()))
        nothing = undefined(why, n, level)
        return PairedDifference(*names, metric, None, None, nothing, None, None, clusters, 0)
    first, second = (each.columns(score.block) for each in outcomes)
    sums, of = first.sum(axis=0), None if metric == "accuracy" else score.of
    if of is None:  # a mean of right and wrong, as logs and runs have it: an unread answer is wrong
        first, second = score.of(first), score.of(second)
    found = paired_difference(
        first, second, outcomes[0].clusters, names=names, metric=metric, level=level, of=of,
        n=count_of(score.block, sums),
    )  # fmt: skip
    if found.difference.value is None:
        return replace(found, difference=undefined(remark(metric, sums.reshape(2, 3)), n, level))
    return found
