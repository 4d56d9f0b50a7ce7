"""Scores of the responses to one context: SARC's pairs and its unbalanced sequences.

Each function returns columns with one row per response, so that a bootstrap can sum them by cluster: the
values of a sequence are in the row of its first response, and the other rows are zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deadpan.arguments import check_labels, check_list
from deadpan.errors import DataError
from deadpan.stats.interval import BoolArray, FloatArray, IntArray
from deadpan.stats.scores import share


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
        return (
            f"{len(bad)} of {len(grouped)} sequences do not have one response of each label, "
            f"such as {bad[0]!r}"
        )
    return ""


def pair_columns(
    truth: Sequence[bool],
    answers: Sequence[bool | None],
    scores: Sequence[float | None],
    sequences: Sequence[str],
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


def _points(
    answers: Sequence[bool | None], scores: Sequence[float | None], sarcastic: int, other: int
) -> float:
    if answers[sarcastic] is None or answers[other] is None:
        return 0.0
    high, low = scores[sarcastic], scores[other]
    if high is None or low is None:
        high, low = float(answers[sarcastic] or 0), float(answers[other] or 0)
    return 0.5 if high == low else float(high > low)


def sequence_columns(
    truth: Sequence[bool], answers: Sequence[bool | None], sequences: Sequence[str]
) -> FloatArray:
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
    truth: Sequence[bool],
    answers: Sequence[bool | None],
    scores: Sequence[float | None],
    sequences: Sequence[str],
) -> float:
    """Return the share of pairs in which the sarcastic response has the higher score (a tie is half)."""
    truth, answers, scores, sequences = _check_rows(truth, answers, scores, sequences)
    won, played = pair_columns(truth, answers, scores, sequences).sum(axis=0)
    return float(won / played)


def sequence_scores(
    truth: Sequence[bool], answers: Sequence[bool | None], sequences: Sequence[str]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of each sequence, averaged over sequences."""
    truth, answers, _, sequences = _check_rows(
        truth, answers, [None] * len(check_list(truth, "truth")), sequences
    )
    *sums, count = sequence_columns(truth, answers, sequences).sum(axis=0)
    if count == 0:
        raise DataError("sequence scores are undefined: no example has a sequence")
    precision, recall, f1 = (float(total / count) for total in sums)
    return precision, recall, f1


def _check_rows(
    truth: Sequence[bool],
    answers: Sequence[bool | None],
    scores: Sequence[float | None],
    sequences: Sequence[str],
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
