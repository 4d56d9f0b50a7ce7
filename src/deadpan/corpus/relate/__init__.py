"""Rows -> candidates, threads, sequences and counts: relational steps that run on any engine."""
