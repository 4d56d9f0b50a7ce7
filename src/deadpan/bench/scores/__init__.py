"""Scores of runs, comparisons between them, and what they say about items."""
