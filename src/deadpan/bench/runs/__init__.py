"""Runs: ask models (or read people's answers) and store one row per item and run."""
