"""Reddit dumps -> a SARC corpus and its benchmarks, with every dropped comment accounted for."""

import os

# DuckDB's allocator hands unused memory back to the system all the time, and has it zeroed again when it is
# needed next: a tenth of what the kernel does in a build. Looked at when duckdb is first imported.
os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", "dirty_decay_ms:-1,muzzy_decay_ms:-1")
