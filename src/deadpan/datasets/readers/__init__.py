"""Readers of published corpora, one file per corpus."""
