"""Scores of right and wrong, all from one confusion table.

The table is truth by answer: `counts[..., truth, answer]`, truth 0 not sarcastic and 1 sarcastic, answer
0 not, 1 sarcastic and 2 unread. Every function takes any number of tables at once (leading axes), so a
bootstrap is one call. An unread answer claims nothing: it never helps, it lowers accuracy and recall,
and it leaves precision alone.

A share of nothing (precision where nothing was called sarcastic) is 0.0, as in scikit-learn, and
`remark` says so. What has no meaning without both classes is NaN here and None with a reason in results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.errors import DataError
from deadpan.stats.interval import FloatArray

UNREAD = 2
CLASS_NAMES = ("not sarcastic", "sarcastic")


def confusion(truth: Sequence[bool], answers: Sequence[bool | None]) -> FloatArray:
    """The 2 x 3 table of truth by answer, where None is an answer that could not be read."""
    if len(truth) != len(answers):
        raise DataError(f"one answer an example: {len(truth)} examples, {len(answers)} answers")
    table: FloatArray = confusion_columns(truth, answers).sum(axis=0).reshape(2, 3)
    return table


def confusion_columns(truth: Sequence[bool], answers: Sequence[bool | None]) -> FloatArray:
    """Each row's own table laid flat (rows x 6): summed over rows it is the confusion table."""
    codes = np.array([UNREAD if answer is None else int(answer) for answer in answers], dtype=np.int64)
    cells = np.array([int(label) for label in truth], dtype=np.int64) * 3 + codes
    columns: FloatArray = np.eye(6)[cells]
    return columns


def share(part: FloatArray, whole: FloatArray, empty: float = 0.0) -> FloatArray:
    """part / whole, and `empty` where the whole is nothing."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shares: FloatArray = np.full(np.broadcast_shapes(part.shape, whole.shape), empty)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def accuracy(counts: FloatArray) -> FloatArray:
    """The share answered rightly; unread counts as wrong."""
    return share(counts[..., 0, 0] + counts[..., 1, 1], counts.sum(axis=(-2, -1)), np.nan)


def precision(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """Of those called so, the share that are; 0 where none was called so."""
    side = int(sarcastic)
    return share(counts[..., side, side], counts[..., :, side].sum(axis=-1))


def recall(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """Of those that are so, the share called so; 0 where none is."""
    side = int(sarcastic)
    return share(counts[..., side, side], counts[..., side, :].sum(axis=-1))


def f1(counts: FloatArray, sarcastic: bool = True) -> FloatArray:
    """The harmonic mean of precision and recall; 0 where there is neither a claim nor a case."""
    side = int(sarcastic)
    claims, cases = counts[..., :, side].sum(axis=-1), counts[..., side, :].sum(axis=-1)
    return share(2 * counts[..., side, side], claims + cases)


def macro_f1(counts: FloatArray) -> FloatArray:
    """The plain mean of both classes' F1; NaN where the truth has one class only."""
    return _with_both_classes(counts, (f1(counts, False) + f1(counts, True)) / 2)


def weighted_f1(counts: FloatArray) -> FloatArray:
    """The mean of both classes' F1, weighted by how many of each the truth has."""
    cases = counts.sum(axis=-1)
    weighted = cases[..., 0] * f1(counts, False) + cases[..., 1] * f1(counts, True)
    return share(weighted, cases.sum(axis=-1), np.nan)


def balanced_accuracy(counts: FloatArray) -> FloatArray:
    """The mean of both classes' recall; NaN where the truth has one class only."""
    return _with_both_classes(counts, (recall(counts, False) + recall(counts, True)) / 2)


def _with_both_classes(counts: FloatArray, values: FloatArray) -> FloatArray:
    return np.where((counts.sum(axis=-1) > 0).all(axis=-1), values, np.nan)


def remark(score: str, counts: FloatArray) -> str:
    """Why a score of this table is undefined, or 0 only by convention; empty where it is neither.

    A name that ends in `_not` is about the other class.
    """
    if counts.sum() == 0:
        return "no labelled examples"
    cases = counts.sum(axis=-1)
    if score in ("macro_f1", "balanced_accuracy") and (cases == 0).any():
        return "only one class in the truth"
    name = score.removesuffix("_not")
    side = int(name == score)
    no_claim, no_case = counts[:, side].sum() == 0, cases[side] == 0
    if name == "precision" and no_claim:
        return f"nothing was called {CLASS_NAMES[side]}: 0 by convention"
    if name == "recall" and no_case:
        return f"nothing in the truth is {CLASS_NAMES[side]}: 0 by convention"
    if name == "f1" and no_claim and no_case:
        return f"nothing is or was called {CLASS_NAMES[side]}: 0 by convention"
    return ""
