"""Frozen encoders: numbers computed once per text by weights that are not trained further."""
