"""Scored tables: one table in, the same table with label and score out, and what its scores are worth."""

from deadpan.datasets.scored.reading import ScoredFile, are_scored, read_scored
from deadpan.datasets.scored.report import ScoredReport, score_files
from deadpan.datasets.scored.writing import ScoredTable, score_table

__all__ = [
    "ScoredFile",
    "ScoredReport",
    "ScoredTable",
    "are_scored",
    "read_scored",
    "score_files",
    "score_table",
]
