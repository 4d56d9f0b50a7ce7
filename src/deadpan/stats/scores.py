"""Classification scores, all from one confusion table.

The table is truth by answer: `counts[..., truth, answer]`, truth 0 not sarcastic and 1 sarcastic, answer
0 not sarcastic, 1 sarcastic and 2 unread. Every function takes any number of tables at once (leading
axes), so a bootstrap is one call. An unread answer is no prediction: it lowers accuracy and recall, and
does not change precision.

A ratio with denominator 0 (precision where nothing was predicted sarcastic) is 0.0, as in scikit-learn,
and `remark` says so. A score that needs both classes is NaN here, and None with a reason in results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.arguments import check_flag, check_labels
from deadpan.errors import DataError
from deadpan.stats.interval import FloatArray

UNREAD = 2
CLASS_NAMES = ("not sarcastic", "sarcastic")


def confusion(truth: Sequence[bool], answers: Sequence[bool | None]) -> FloatArray:
    """Return the 2 x 3 table of truth by answer, where None is an unread answer."""
    truth, answers = check_labels(truth, "truth"), check_labels(answers, "answers")
    if None in truth:
        raise DataError("truth must be True or False: remove examples without a label")
    if len(truth) != len(answers):
        raise DataError(
            f"a confusion table needs one answer per example: got {len(truth)} examples "
            f"and {len(answers)} answers"
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


def remark(score: str, counts: FloatArray) -> str:
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
