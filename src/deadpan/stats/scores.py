"""Classification scores from one confusion table, and scores of the responses to one context.

The table is truth by answer: `counts[..., truth, answer]`, truth 0 not sarcastic and 1 sarcastic, answer
0 not sarcastic, 1 sarcastic and 2 unread. Every function takes any number of tables at once (leading
axes), so a bootstrap is one call. An unread answer is no prediction: it lowers accuracy and recall, and
does not change precision.

A ratio with denominator 0 (precision where nothing was predicted sarcastic) is 0.0, as in scikit-learn,
and `undefined_reason` says so. A score that needs both classes is NaN here, None with a reason in results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deadpan.arguments import check_flag, check_labels, check_list
from deadpan.errors import DataError
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval

UNREAD = 2
CLASS_NAMES = ("not sarcastic", "sarcastic")


def confusion(truth: Sequence[bool], answers: Sequence[bool | None]) -> FloatArray:
    """Return the 2 x 3 table of truth by answer, where None is an unread answer."""
    truth, answers = check_labels(truth, "truth"), check_labels(answers, "answers")
    if None in truth:
        raise DataError("truth must be True or False: remove examples without a label")
    if len(truth) != len(answers):
        raise DataError(
            f"a confusion table needs one answer per example: got {len(truth)} examples and {len(answers)} answers"
        )
    table: FloatArray = confusion_columns(truth, answers).sum(axis=0).reshape(2, 3)
    return table


def confusion_columns(truth: Sequence[bool], answers: Sequence[bool | None]) -> FloatArray:
    """Return the flattened table of each row (rows x 6): their sum is the confusion table."""
    codes = np.array([UNREAD if answer is None else int(answer) for answer in answers], dtype=np.int64)
    cells = np.array([int(label) for label in truth], dtype=np.int64) * 3 + codes
    columns: FloatArray = np.eye(6)[cells]
    return columns


def share(part: FloatArray, whole: FloatArray, empty: float = 0.0) -> FloatArray:
    """Return part / whole, and `empty` where the whole is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shares: FloatArray = np.full(np.broadcast_shapes(part.shape, whole.shape), empty)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def _tables(counts: FloatArray) -> FloatArray:
    """Return confusion tables as an array if they have the right shape."""
    try:
        tables: FloatArray = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        tables = np.empty(0)
    if tables.shape[-2:] != (2, 3):
        raise DataError("scores need a confusion table of 2 x 3 counts: use confusion(truth, answers)")
    return tables


def accuracy(counts: FloatArray) -> FloatArray:
    """Return the share of correct answers; an unread answer is wrong."""
    counts = _tables(counts)
    return share(counts[..., 0, 0] + counts[..., 1, 1], counts.sum(axis=(-2, -1)), np.nan)


def precision(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """Return the share of predictions of a class that are correct; 0 where there are none."""
    counts = _tables(counts)
    side = int(check_flag(sarcastic, "sarcastic"))
    return share(counts[..., side, side], counts[..., :, side].sum(axis=-1))


def recall(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """Return the share of a class that was predicted; 0 where the truth has none."""
    counts = _tables(counts)
    side = int(check_flag(sarcastic, "sarcastic"))
    return share(counts[..., side, side], counts[..., side, :].sum(axis=-1))


def f1(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """Return the harmonic mean of precision and recall; 0 where the class is neither true nor predicted."""
    counts = _tables(counts)
    side = int(check_flag(sarcastic, "sarcastic"))
    predicted, cases = counts[..., :, side].sum(axis=-1), counts[..., side, :].sum(axis=-1)
    return share(2 * counts[..., side, side], predicted + cases)


def macro_f1(counts: FloatArray) -> FloatArray:
    """Return the mean of both classes' F1; NaN where the truth has one class only."""
    counts = _tables(counts)
    return _with_both_classes(counts, (f1(counts, False) + f1(counts, True)) / 2)


def weighted_f1(counts: FloatArray) -> FloatArray:
    """Return the mean of both classes' F1, weighted by their size in the truth."""
    counts = _tables(counts)
    cases = counts.sum(axis=-1)
    weighted = cases[..., 0] * f1(counts, False) + cases[..., 1] * f1(counts, True)
    return share(weighted, cases.sum(axis=-1), np.nan)


def balanced_accuracy(counts: FloatArray) -> FloatArray:
    """Return the mean of both classes' recall; NaN where the truth has one class only."""
    counts = _tables(counts)
    return _with_both_classes(counts, (recall(counts, False) + recall(counts, True)) / 2)


def _with_both_classes(counts: FloatArray, values: FloatArray) -> FloatArray:
    return np.where((counts.sum(axis=-1) > 0).all(axis=-1), values, np.nan)


def undefined_reason(score: str, counts: FloatArray) -> str:
    """Return why a score of this table is undefined or 0 by convention; empty where it is neither.

    A name that ends in `_not` is about the class that is not sarcastic.
    """
    if counts.sum() == 0:
        return "no labelled examples"
    cases = counts.sum(axis=-1)
    if score in ("macro_f1", "balanced_accuracy") and (cases == 0).any():
        return "only one class in the truth"
    name = score.removesuffix("_not")
    side = int(name == score)
    no_prediction, no_case = counts[:, side].sum() == 0, cases[side] == 0
    if name == "precision" and no_prediction:
        return f"nothing was predicted {CLASS_NAMES[side]}: 0 by convention"
    if name == "recall" and no_case:
        return f"no example is {CLASS_NAMES[side]}: 0 by convention"
    if name == "f1" and no_prediction and no_case:
        return f"nothing is or was predicted {CLASS_NAMES[side]}: 0 by convention"
    return ""


LOSSES = frozenset({"brier", "rater_distance"})
"""Scores of errors: the lower, the better. All others are better the higher they are."""


MAIN_SCORES = ("pair_accuracy", "balanced_accuracy", "f1")
"""Scores by which a result is told in one sentence: the first one that it has."""
# Scores whose name is not their words.
_WORDS = {
    "f1": "F1", "macro_f1": "macro F1", "weighted_f1": "weighted F1", "sequence_f1": "sequence F1",
    "auc": "AUC", "brier": "Brier score",
}  # fmt: skip


def metric_words(metric: str) -> str:
    """Return the name of a score as people write it."""
    name = metric.removesuffix("_not")
    words = _WORDS.get(name, name.replace("_", " "))
    return words if name == metric else f"{words}, sincere class"


def is_loss(metric: str) -> bool:
    """Return whether lower values of a score are better."""
    return metric in LOSSES


def rank_value(metric: str, value: float | None) -> float:
    """Return a number that is higher for the better of two values of a score; an undefined one is worst."""
    if value is None:
        return -math.inf
    return -value if is_loss(metric) else value


def beats(metric: str, score: Interval, constant: float | None) -> bool:
    """Return whether a score is significantly better than a constant answer's; True if that is not known."""
    if constant is None or score.low is None or score.high is None:
        return True
    return score.high < constant if is_loss(metric) else score.low > constant


def with_direction(metric: str, words: str = "") -> str:
    """Return the name of a score, or other words for it, and for a loss that lower is better."""
    return f"{words or metric} (lower is better)" if is_loss(metric) else words or metric


# SARC's pairs and unbalanced sequences. Columns have one row per response, so that a bootstrap can sum them
# by cluster: the values of a sequence are in the row of its first response, and the other rows are zero.


def rows_by_sequence(sequences: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows of each sequence, in order; an empty name is no sequence."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(sequences):
        if name:
            rows.setdefault(name, []).append(row)
    return rows


def why_not_pairs(truth: Sequence[bool], sequences: Sequence[str]) -> str:
    """Return why pair accuracy is undefined; empty if every sequence has one response of each label."""
    grouped = rows_by_sequence(sequences)
    if not grouped:
        return "no sequences"
    bad = [name for name, rows in grouped.items() if sorted(truth[row] for row in rows) != [False, True]]
    if bad:
        return f"{len(bad)} of {len(grouped)} sequences do not have one response of each label, such as {bad[0]!r}"
    return ""


def pair_columns(
    truth: Sequence[bool], answers: Sequence[bool | None], scores: Sequence[float | None], sequences: Sequence[str]
) -> FloatArray:
    """Return points and pairs (rows x 2): their ratio is pair accuracy.

    A pair is correct if the sarcastic response has the higher score, as in SARC's own evaluation,
    whatever the labels say; a tie is half a point. Without a score for both, the labels count as 1 and 0.
    A pair with an unread answer is wrong.
    """
    if why := why_not_pairs(truth, sequences):
        raise DataError(f"pair accuracy is undefined: {why}")
    if any(score is not None and math.isnan(score) for score in scores):
        raise DataError("pair accuracy is undefined: a score is NaN; use None where there is no score")
    columns = np.zeros((len(truth), 2))
    for rows in rows_by_sequence(sequences).values():
        sarcastic, other = sorted(rows, key=lambda row: not truth[row])
        columns[min(rows)] = _points(answers, scores, sarcastic, other), 1.0
    return columns


def _points(answers: Sequence[bool | None], scores: Sequence[float | None], sarcastic: int, other: int) -> float:
    if answers[sarcastic] is None or answers[other] is None:
        return 0.0
    high, low = scores[sarcastic], scores[other]
    if high is None or low is None:
        high, low = float(answers[sarcastic] or 0), float(answers[other] or 0)
    return 0.5 if high == low else float(high > low)


def placement_columns(truth: Sequence[bool], scores: Sequence[float | None]) -> FloatArray:
    """Return the columns whose sums give the AUC: two placements, and the counts of either class.

    The placement of a sarcastic example is the share of sincere ones with a lower score (ties count half), that
    of a sincere one the share of sarcastic ones with a higher score. Both have half the AUC taken off, so that
    their means add up to the AUC and leaving out an example changes the sum as much as it changes the AUC
    (DeLong et al. 1988).
    """
    known = np.array([score is not None for score in scores])
    values = np.array([0.0 if score is None else score for score in scores])
    label = np.array(truth, dtype=bool)
    yes, no = np.sort(values[known & label]), np.sort(values[known & ~label])
    columns = np.zeros((len(label), 4))
    for side, (own, others) in enumerate(((known & label, no), (known & ~label, yes))):
        below = np.searchsorted(others, values[own], side="left") + np.searchsorted(others, values[own], side="right")
        share = below / (2 * max(len(others), 1))
        columns[own, side] = share if side == 0 else 1 - share
        columns[own, 2 + side] = 1.0
    area = columns[:, 0].sum() / max(len(yes), 1)
    columns[:, :2] -= area / 2 * columns[:, 2:]
    return columns


def sequence_columns(truth: Sequence[bool], answers: Sequence[bool | None], sequences: Sequence[str]) -> FloatArray:
    """Return precision, recall and F1 of each sequence, and a 1 to count it (rows x 4).

    This is SARC's unbalanced measure: within each sequence the responses predicted sarcastic are compared
    with those that are, then averaged over sequences of any length. Predicting none where there are some
    scores 0, 0, 0. Where there are none, predicting none scores 1, 1, 1 and predicting any 0, 0, 0 (SARC
    has no such sequence, a sample of it may). An unread answer does not predict sarcasm.
    """
    first, code = _first_rows(sequences)
    member = code >= 0
    cases = np.array(truth, dtype=bool)
    predicted = np.array([answer is True for answer in answers], dtype=bool)
    n_cases, n_predicted, n_hits = (
        np.bincount(code[member & chosen], minlength=len(first)).astype(np.float64)
        for chosen in (cases, predicted, cases & predicted)
    )
    neither: BoolArray = (n_cases + n_predicted) == 0
    columns = np.zeros((len(truth), 4))
    columns[first, 0] = np.where(neither, 1.0, share(n_hits, n_predicted))
    columns[first, 1] = np.where(neither, 1.0, share(n_hits, n_cases))
    columns[first, 2] = np.where(neither, 1.0, share(2 * n_hits, n_predicted + n_cases))
    columns[first, 3] = 1.0
    return columns


def _first_rows(sequences: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the first row of each sequence, and the sequence number of each row (-1: none)."""
    grouped = rows_by_sequence(sequences)
    code = np.full(len(sequences), -1, dtype=np.int64)
    for number, rows in enumerate(grouped.values()):
        code[rows] = number
    return np.array([rows[0] for rows in grouped.values()], dtype=np.int64), code


def pair_accuracy(
    truth: Sequence[bool], answers: Sequence[bool | None], scores: Sequence[float | None], sequences: Sequence[str]
) -> float:
    """Return the share of pairs in which the sarcastic response has the higher score (a tie is half)."""
    truth, answers, scores, sequences = _check_rows(truth, answers, scores, sequences)
    won, played = pair_columns(truth, answers, scores, sequences).sum(axis=0)
    return float(won / played)


def sequence_scores(
    truth: Sequence[bool], answers: Sequence[bool | None], sequences: Sequence[str]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of each sequence, averaged over sequences."""
    truth, answers, _, sequences = _check_rows(truth, answers, [None] * len(check_list(truth, "truth")), sequences)
    *sums, count = sequence_columns(truth, answers, sequences).sum(axis=0)
    if count == 0:
        raise DataError("sequence scores are undefined: no example has a sequence")
    precision, recall, f1 = (float(total / count) for total in sums)
    return precision, recall, f1


def _check_rows(
    truth: Sequence[bool], answers: Sequence[bool | None], scores: Sequence[float | None], sequences: Sequence[str]
) -> tuple[list[bool], list[bool | None], list[float | None], list[str]]:
    """Return the columns as lists of one length if they hold labels, scores and names."""
    columns = (
        check_labels(truth, "truth"),
        check_labels(answers, "answers"),
        check_list(scores, "scores"),
        check_list(sequences, "sequences"),
    )
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        raise DataError(f"truth, answers, scores and sequences need one value per response: got {lengths}")
    if None in columns[0]:
        raise DataError("truth must be True or False: remove examples without a label")
    if bad := [score for score in columns[2] if not isinstance(score, int | float | np.number | None)]:
        raise DataError(f"scores must be numbers or None: got {bad[0]!r}")
    if names := [name for name in columns[3] if not isinstance(name, str)]:
        raise DataError(f"sequences must be names, empty for none: got {names[0]!r}")
    return columns
