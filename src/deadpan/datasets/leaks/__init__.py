"""Leaks: what in a corpus, or between corpora, makes scores look better than they are."""

from deadpan.datasets.leaks.report import CorpusLeaks, LeakReport, find_leaks

__all__ = ["CorpusLeaks", "LeakReport", "find_leaks"]
