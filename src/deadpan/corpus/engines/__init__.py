"""Engines that run the relational steps: DuckDB on one machine, Spark on a cluster."""
