"""Scores, confidence intervals and paired tests, on arrays or on Examples and Predictions."""

from deadpan.stats.calibration import Bin, Calibration, brier, calibrate, expected_calibration_error, reliability
from deadpan.stats.interval import LEVEL, RESAMPLES, Interval, bootstrap_interval, cluster_codes, wilson
from deadpan.stats.paired import Comparisons, PairedDifference, holm, paired_difference
from deadpan.stats.scores import (
    accuracy,
    balanced_accuracy,
    confusion,
    f1,
    macro_f1,
    pair_accuracy,
    precision,
    recall,
    sequence_scores,
    weighted_f1,
)
from deadpan.stats.table import SCORES, ScoreTable, SystemScores, compare_predictions, score_predictions, score_systems

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "SCORES",
    "Bin",
    "Calibration",
    "Comparisons",
    "Interval",
    "PairedDifference",
    "ScoreTable",
    "SystemScores",
    "accuracy",
    "balanced_accuracy",
    "bootstrap_interval",
    "brier",
    "calibrate",
    "cluster_codes",
    "compare_predictions",
    "confusion",
    "expected_calibration_error",
    "f1",
    "holm",
    "macro_f1",
    "pair_accuracy",
    "paired_difference",
    "precision",
    "recall",
    "reliability",
    "score_predictions",
    "score_systems",
    "sequence_scores",
    "weighted_f1",
    "wilson",
]
