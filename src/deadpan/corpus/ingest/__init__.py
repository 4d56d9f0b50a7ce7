"""Dumps -> one row per comment or post in Parquet: text rules applied, duplicates removed."""
