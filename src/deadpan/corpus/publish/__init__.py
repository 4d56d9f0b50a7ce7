"""Steps -> the released files: raw rows, sequences, benchmarks, statistics, card and manifest."""
