"""Every score of one or several systems: predictions matched with their examples, intervals, comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from deadpan.arguments import check_examples, check_mapping, check_predictions, check_seed
from deadpan.duplicates import copy_key
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.stats import scores
from deadpan.stats.calibration import Calibration, calibrate
from deadpan.stats.interval import (
    LEVEL,
    RESAMPLES,
    FloatArray,
    IntArray,
    Interval,
    check_level,
    cluster_codes,
    interval_name,
    totals_interval,
    undefined,
    unique_clusters,
)
from deadpan.stats.paired import Comparisons, PairedDifference, paired_difference
from deadpan.stats.ranking import auc_interval
from deadpan.stats.scores import pair_columns, rank_value, sequence_columns, undefined_reason, why_not_pairs
from deadpan.text import plural

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


Block = Literal["confusion", "pairs", "sequences", "brier", "auc"]
"""A block of scores that are functions of the same column sums."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 1 as a function of column sums (... x columns).

    `whole` is what it divides by (... x parts): rows where that is 0 say nothing about the score.
    """

    block: Block
    of: Callable[[FloatArray], FloatArray]
    whole: Callable[[FloatArray], FloatArray]


def _of_table(score: Callable[[FloatArray], FloatArray], *wholes: Callable[[FloatArray], FloatArray]) -> Score:
    def whole(sums: FloatArray) -> FloatArray:
        tables = sums.reshape(*sums.shape[:-1], 2, 3)
        return np.stack([part(tables) for part in wholes], axis=-1)

    return Score("confusion", lambda sums: score(sums.reshape(*sums.shape[:-1], 2, 3)), whole)


def _mean(block: Block, column: int) -> Score:
    """Return the sum of a column divided by the sum of the block's last one, which counts."""
    return Score(
        block, lambda sums: scores.share(sums[..., column], sums[..., -1], np.nan), lambda sums: sums[..., -1:]
    )


def _all(tables: FloatArray) -> FloatArray:
    everything: FloatArray = tables.sum(axis=(-2, -1))
    return everything


def _predicted(side: int) -> Callable[[FloatArray], FloatArray]:
    return lambda tables: tables[..., :, side].sum(axis=-1)


def _cases(side: int) -> Callable[[FloatArray], FloatArray]:
    return lambda tables: tables[..., side, :].sum(axis=-1)


def _either(side: int) -> Callable[[FloatArray], FloatArray]:
    """Return the function that counts what is of a class or was predicted to be, as F1 does."""
    return lambda tables: tables[..., :, side].sum(axis=-1) + tables[..., side, :].sum(axis=-1)


def _placements_sum(sums: FloatArray) -> FloatArray:
    """Return the AUC of the sums of `placement_columns`."""
    either = [scores.share(sums[..., side], sums[..., 2 + side], np.nan) for side in (0, 1)]
    return either[0] + either[1]


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "accuracy": _of_table(scores.accuracy, _all),
        "balanced_accuracy": _of_table(scores.balanced_accuracy, _cases(0), _cases(1)),
        "precision": _of_table(scores.precision, _predicted(1)),
        "recall": _of_table(scores.recall, _cases(1)),
        "f1": _of_table(scores.f1, _either(1)),
        "precision_not": _of_table(partial(scores.precision, sarcastic=False), _predicted(0)),
        "recall_not": _of_table(partial(scores.recall, sarcastic=False), _cases(0)),
        "f1_not": _of_table(partial(scores.f1, sarcastic=False), _either(0)),
        "macro_f1": _of_table(scores.macro_f1, _either(0), _either(1)),
        "weighted_f1": _of_table(scores.weighted_f1, _all),
        "pair_accuracy": _mean("pairs", 0),
        "sequence_precision": _mean("sequences", 0),
        "sequence_recall": _mean("sequences", 1),
        "sequence_f1": _mean("sequences", 2),
        "brier": _mean("brier", 0),
        "auc": Score("auc", _placements_sum, lambda sums: sums[..., 2:]),
    }
)
"""Every score by name. `precision`, `recall` and `f1` are of the sarcastic class, `_not` of the other."""


def score_named(name: str) -> Score:
    """Return the score of that name, or raise an error that lists the names."""
    if not isinstance(name, str) or name not in SCORES:
        raise ConfigError(unknown("metric", name, SCORES))
    return SCORES[name]


def check_fits(metric: str, examples: Sequence[Example], where: str = "") -> None:
    """Raise an error if the examples do not allow a score, before anything is trained or asked."""
    labelled = [(e.label, e.sequence) for e in check_examples(examples) if e.label is not None]
    truth, sequences = [label for label, _ in labelled], [sequence for _, sequence in labelled]
    not_pairs = why_not_pairs(truth, sequences)
    why: dict[Block, str] = {
        "pairs": "no pairs: no example has a sequence" if not any(sequences) else not_pairs,
        "sequences": "" if any(sequences) else "no example has a sequence",
    }
    if reason := why.get(score_named(metric).block, ""):
        others = [name for name, score in SCORES.items() if not why.get(score.block)]
        raise ConfigError(
            f"{where and f'{where}: '}{metric} cannot be computed ({reason}): choose from {', '.join(others)}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The labelled examples and one system's answers, in the order of the examples."""

    truth: list[bool]
    answers: list[bool | None]
    scores: list[float | None]
    sequences: list[str]
    clusters: IntArray
    n_unlabelled: int
    n_copies: int = 0

    @property
    def n_unread(self) -> int:
        """Number of unread answers: wrong in every accuracy, and counted separately."""
        return sum(answer is None for answer in self.answers)

    def why_not(self, block: Block) -> str:
        """Return why the scores of a block are undefined; empty if they are defined."""
        if not self.truth:
            return "no labelled examples"
        if block == "pairs":
            return why_not_pairs(self.truth, self.sequences)
        if block == "sequences" and not any(self.sequences):
            return "no sequences"
        given = [score for score in self.scores if score is not None]
        if block in ("brier", "auc") and not given:
            return "no prediction has a score"
        known = {label for label, score in zip(self.truth, self.scores, strict=True) if score is not None}
        if block == "auc" and len(known) < 2:
            return "only one class in the truth"
        if block == "brier" and (min(given) < 0 or max(given) > 1):
            return f"scores range from {min(given):g} to {max(given):g}: they are not probabilities"
        return ""

    def columns(self, block: Block) -> FloatArray:
        """Return the block's columns, one row per example."""
        if block == "confusion":
            return scores.confusion_columns(self.truth, self.answers)
        if block == "pairs":
            return pair_columns(self.truth, self.answers, self.scores, self.sequences)
        if block == "sequences":
            return sequence_columns(self.truth, self.answers, self.sequences)
        if block == "auc":
            return scores.placement_columns(self.truth, self.scores)
        has_score = np.array([score is not None for score in self.scores])
        values = np.array([0.0 if score is None else score for score in self.scores])
        return np.stack([np.where(has_score, (values - self.truth) ** 2, 0.0), has_score], axis=1)


def match(examples: Sequence[Example], predictions: Sequence[Prediction]) -> Outcomes:
    """Match predictions with their examples by id; examples without a label are excluded and counted.

    Rows that share a group or a sequence are one cluster, and so are copies among the other rows: twenty
    copies of a text are one observation.
    """
    examples, predictions = check_examples(examples), check_predictions(predictions)
    _refuse_doubles("examples", (example.id for example in examples))
    _refuse_doubles("predictions", (prediction.example_id for prediction in predictions))
    by_id = {prediction.example_id: prediction for prediction in predictions}
    missing = [example.id for example in examples if example.id not in by_id]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(examples)} examples have no prediction, first {missing[0]!r}: "
            "predict all of them, or score only those that were predicted"
        )
    known = {example.id for example in examples}
    extra = [prediction.example_id for prediction in predictions if prediction.example_id not in known]
    if extra:
        raise DataError(
            f"{plural(len(extra), 'prediction')} without an example, first {extra[0]!r}: "
            "score them against the examples they were made from"
        )
    nan = [p.example_id for p in predictions if p.score is not None and math.isnan(p.score)]
    if nan:
        raise DataError(
            f"{plural(len(nan), 'prediction')} with a score that is NaN, first {nan[0]!r}: use None for no score"
        )
    labelled = [(example, example.label) for example in examples if example.label is not None]
    copies = _copies([example for example, _ in labelled])
    return Outcomes(
        truth=[label for _, label in labelled],
        answers=[by_id[example.id].label for example, _ in labelled],
        scores=[by_id[example.id].score for example, _ in labelled],
        sequences=[example.sequence for example, _ in labelled],
        clusters=cluster_codes([e.group for e, _ in labelled], [e.sequence for e, _ in labelled], copies),
        n_unlabelled=len(examples) - len(labelled),
        n_copies=sum(map(bool, copies)) - len({key for key in copies if key}),
    )


def _copies(examples: Sequence[Example]) -> list[str]:
    """Return a key that copies of an example share; empty where a group or a sequence says what belongs.

    If all texts are the same, they stand for texts that are not given.
    """
    keys = ["" if e.group or e.sequence else copy_key(e) for e in examples]
    return keys if len({key for key in keys if key}) > 1 else [""] * len(keys)


def _refuse_doubles(noun: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    doubles = []
    for id_ in ids:
        if id_ in seen:
            doubles.append(id_)
        seen.add(id_)
    if doubles:
        raise DataError(f"{len(doubles)} {noun} repeat an id, first {doubles[0]!r}: ids must be unique")


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


def _score_block(outcomes: Outcomes, block: Block, seed: int, level: float, resamples: int) -> dict[str, Interval]:
    names = [name for name, score in SCORES.items() if score.block == block]
    if why := outcomes.why_not(block):
        return {name: undefined(why, len(outcomes.truth), level) for name in names}
    columns = outcomes.columns(block)
    kinds, multiplicity = unique_clusters(columns, outcomes.clusters)
    sums = columns.sum(axis=0)
    return {
        name: totals_interval(
            kinds,
            multiplicity,
            SCORES[name].of,
            n=count_of(block, sums),
            why=undefined_reason(name, sums.reshape(2, 3)) if block == "confusion" else "",
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
    if block == "auc":
        return int(sums[2] + sums[3])
    return int(sums.sum() if block == "confusion" else sums[-1])


CONSTANT = "constant answer"
NOTE = "Constant answer: the better of always sarcastic and always sincere, per score"


def constant_scores(examples: Sequence[Example]) -> dict[str, float]:
    """Return the best value of each score that always answering sarcastic, or always sincere, reaches.

    Both give every example the share of sarcastic ones as its score.
    """
    kept = [example for example in examples if example.label is not None]
    share = sum(bool(example.label) for example in kept) / max(len(kept), 1)
    best: dict[str, float] = {}
    for label in (True, False):
        answers = [Prediction(example.id, label, share) for example in kept]
        for name, interval in score_predictions(kept, answers, resamples=1).scores.items():
            if interval.value is not None:
                both = (best.get(name, interval.value), interval.value)
                best[name] = max(both, key=lambda value: rank_value(name, value))
    return best


@dataclass(frozen=True, slots=True, repr=False)
class SystemScores(Result):
    """A ScoreTable per system, the comparisons of all pairs, and the scores of a constant answer."""

    tables: Mapping[str, ScoreTable]
    comparisons: Comparisons
    constant: Mapping[str, float]

    def __repr__(self) -> str:
        return f"SystemScores({len(self.tables)} systems, {len(self.comparisons)} comparisons)"

    def as_dict(self) -> dict[str, object]:
        return {
            "systems": {name: table.as_dict() for name, table in self.tables.items()},
            "constant_answer": dict(self.constant),
            **self.comparisons.as_dict(),
        }

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        names = list(dict.fromkeys(name for table in self.tables.values() for name in table.scores))
        rows = tuple(
            (name, *(table.scores.get(name) for table in self.tables.values()), self.constant.get(name))
            for name in names
        )
        notes = [f"{name}: {table.counts()}" for name, table in self.tables.items()]
        levels = {score.level for table in self.tables.values() for score in table.scores.values()}
        notes += [f"In brackets: the {interval_name(level, 'bootstrap')}." for level in levels]
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
        name: score_predictions(examples, predictions, seed, level, resamples) for name, predictions in systems.items()
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
        why = undefined_reason(metric, sums.reshape(2, 3)) if score.block == "confusion" else "undefined on these data"
        return replace(found, difference=undefined(why, n, level))
    return found
