"""Readers of SARC: its index and comments (also as Arrow columns), and its raw corpus."""
