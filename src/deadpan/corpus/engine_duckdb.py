"""One machine: DuckDB inside this process, with a memory limit, spilling to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import narwhals as nw

from deadpan.corpus.ingest import PARQUET
from deadpan.corpus.rules import literal
from deadpan.errors import ConfigError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from deadpan.corpus.engine import Frame


def connect(memory: str, scratch: Path, threads: int = 0) -> duckdb.DuckDBPyConnection:
    """A connection that stays within `memory` (such as 4GB) and spills into `scratch`."""
    connection = duckdb.connect()
    try:
        connection.execute(f"SET memory_limit = {literal(memory)}")
    except duckdb.Error:
        raise ConfigError(f"--memory {memory!r} is no size: write it like 4GB or 800MB") from None
    connection.execute(f"SET temp_directory = {literal(str(scratch))}")
    connection.execute("SET enable_progress_bar = false")
    # Names of files in memory come again with other contents.
    connection.execute("SET enable_external_file_cache = false")
    # Joins run as they are written, the smaller table on the right: DuckDB's guesses of how many rows a chain
    # of joins leaves were wrong enough to put all comments into a hash table.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    if threads:
        connection.execute(f"SET threads = {int(threads)}")
    return connection


class DuckDBEngine:
    """Runs lazy tables on one connection, so that its memory limit holds for all of them."""

    name = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def scan(self, paths: Sequence[Path]) -> Frame:
        """One scan over all files: a union of scans was slower."""
        files = [str(path) for path in paths]
        frame: Frame = nw.from_native(self.connection.read_parquet(files, hive_partitioning=False))
        return frame

    def save(self, frame: Frame, folder: Path, by: str = "") -> None:
        """COPY, so that compression and partitions are ours to choose."""
        folder.mkdir(parents=True, exist_ok=True)
        query = frame.to_native().sql_query()
        target, options = folder / "part.parquet", PARQUET
        if by:
            target, options = folder, f"{PARQUET}, PARTITION_BY ({by}), OVERWRITE_OR_IGNORE"
        self.connection.execute(f"COPY ({query}) TO {literal(str(target))} ({options})")

    def dealt(self, frame: Frame, column: str, piles: int) -> Frame:
        """By hash, which differs between versions of DuckDB, so it is not for keeping."""
        native = frame.to_native().project(f"*, CAST(hash({column}) % {int(piles)} AS INTEGER) AS pile")
        dealt: Frame = nw.from_native(native)
        return dealt

    def table(self, frame: Frame) -> pa.Table:
        """The result in Arrow."""
        return frame.to_native().to_arrow_table()

    def query(self, frame: Frame, computed: Callable[[], Path]) -> str:
        """No folder: writing and reading it again would be a third of the work."""
        return str(frame.to_native().sql_query())

    def each(self, work: Callable[[str], None], jobs: Sequence[str]) -> None:
        """Two at a time: half of the work is Arrow's, and each is held to a bounded number of rows."""
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(work, job) for job in jobs]:
                done.result()

    def aside(self) -> DuckDBEngine:
        """A connection of one thread's own, under the same memory limit."""
        return DuckDBEngine(self.connection.cursor())

    def interrupt(self) -> None:
        self.connection.interrupt()

    def close(self) -> None:
        self.connection.close()


def trouble(bad: Exception, out: Path) -> BaseException:
    """An error of DuckDB's as one a person can act on. Ctrl-C reaches us as one too: of a query, or, while
    its result is streamed, of nothing but these words."""
    from deadpan.corpus.workshop import full

    text = " ".join(str(bad).split())
    if isinstance(bad, duckdb.InterruptException) or text == "Query interrupted":
        return KeyboardInterrupt()
    if "No space left" in text or "Disk quota" in text or "max_temp_directory_size" in text:
        return full(out)
    if isinstance(bad, duckdb.OutOfMemoryException):
        return DataError(f"{out}: not enough memory for this step: give more with --memory")
    return bad
