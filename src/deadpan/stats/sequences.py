"""Scores of the responses to one context: SARC's pairs and its unbalanced sequences.

Each function gives columns, one row a response, so that a bootstrap can sum them by cluster: what belongs
to a sequence stands in the row of its first response, and the other rows are zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deadpan.errors import DataError
from deadpan.stats.interval import BoolArray, FloatArray, IntArray
from deadpan.stats.scores import share


def rows_by_sequence(sequences: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each sequence, in order; an empty name is no sequence."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(sequences):
        if name:
            rows.setdefault(name, []).append(row)
    return rows


def why_not_pairs(truth: Sequence[bool], sequences: Sequence[str]) -> str:
    """Why pair accuracy cannot be had; empty when every sequence has one response of each label."""
    grouped = rows_by_sequence(sequences)
    if not grouped:
        return "no sequences"
    bad = [name for name, rows in grouped.items() if sorted(truth[row] for row in rows) != [False, True]]
    if bad:
        return f"{len(bad)} of {len(grouped)} sequences are not one sarcastic and one not, such as {bad[0]!r}"
    return ""


def pair_columns(
    truth: Sequence[bool],
    answers: Sequence[bool | None],
    scores: Sequence[float | None],
    sequences: Sequence[str],
) -> FloatArray:
    """Points won and pairs played (rows x 2): their ratio is pair accuracy.

    A pair is won when the sarcastic response scores higher, as in SARC's own evaluation, whatever the
    labels say; a tie is half a point. Without a score on both, the labels stand in as 1 and 0. A pair with
    an unread answer is lost.
    """
    if why := why_not_pairs(truth, sequences):
        raise DataError(f"no pair accuracy: {why}")
    if any(score is not None and math.isnan(score) for score in scores):
        raise DataError("no pair accuracy: a score is NaN; a system that has none gives None")
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
    """Precision, recall and F1 of each sequence, and a 1 to count it (rows x 4).

    This is SARC's unbalanced measure: within each sequence the responses called sarcastic are compared
    with those that are, then averaged over sequences, long or short. Calling none where there are some
    scores 0, 0, 0. Where there are none, calling none scores 1, 1, 1 and calling any 0, 0, 0 (SARC has no
    such sequence, a sample of it may). An unread response is not called sarcastic.
    """
    first, code = _first_rows(sequences)
    member = code >= 0
    cases, calls = np.array(truth, dtype=bool), np.array([answer is True for answer in answers], dtype=bool)
    n_cases, n_calls, n_hits = (
        np.bincount(code[member & chosen], minlength=len(first)).astype(np.float64)
        for chosen in (cases, calls, cases & calls)
    )
    neither: BoolArray = (n_cases + n_calls) == 0
    columns = np.zeros((len(truth), 4))
    columns[first, 0] = np.where(neither, 1.0, share(n_hits, n_calls))
    columns[first, 1] = np.where(neither, 1.0, share(n_hits, n_cases))
    columns[first, 2] = np.where(neither, 1.0, share(2 * n_hits, n_calls + n_cases))
    columns[first, 3] = 1.0
    return columns


def _first_rows(sequences: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The first row of each sequence, and each row's sequence number (-1: in none)."""
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
    """The share of pairs in which the sarcastic response scores higher (a tie counts half)."""
    won, played = pair_columns(truth, answers, scores, sequences).sum(axis=0)
    return float(won / played)


def sequence_scores(
    truth: Sequence[bool], answers: Sequence[bool | None], sequences: Sequence[str]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of each sequence, averaged over sequences."""
    *sums, count = sequence_columns(truth, answers, sequences).sum(axis=0)
    if count == 0:
        raise DataError("no sequence scores: no example has a sequence")
    precision, recall, f1 = (float(total / count) for total in sums)
    return precision, recall, f1
