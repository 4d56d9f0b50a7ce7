"""DuckDB in this process: one machine, with a memory limit, spilling to disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw

from deadpan.corpus.checkpoints import disk_full
from deadpan.corpus.engines.engine import (
    JobFunction,
    Share,
    WatchJobs,
    ignore,
    numbered,
    parquet_files,
    size_in_bytes,
    size_of,
)
from deadpan.errors import ConfigError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from deadpan.corpus.engines.engine import EngineSettings, Frame

# A small limit for dictionaries: ids and texts hardly repeat, and looking for repeats took a third of the
# writing time. Small row groups reuse their memory. No compression: snappy makes a build 3 to 9 % slower and
# halves the size of the working folder.
PARQUET_OPTIONS = (
    "FORMAT parquet, PARQUET_VERSION V2, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1000,"
    " WRITE_BLOOM_FILTER false, ROW_GROUP_SIZE 20480"
)
SMALLEST_JOB = 1 << 20
JOBS_PER_MEMORY = 8
SAMPLED = 64  # keys in the sample for each range
FAN_OUT, _PARTITION_BYTES = (4, 256), 16_000_000  # partitions that are written at once, memory for each
HELD_BYTES = 500  # of a row that a thread holds back while it writes partitions; these cannot be spilled
SMALLEST_SHARE = 500_000_000  # memory of each of several jobs at once
SPARE = 1 << 30  # memory that is left for the rest of this process and of the machine
FEWEST_HELD, MOST_HELD = 8_192, 524_288


def open_duckdb(memory: str, scratch: Path, threads: int = 0) -> duckdb.DuckDBPyConnection:
    """Open a connection that stays within `memory` (such as 4GB) and spills into `scratch`."""
    connection = duckdb.connect()
    if threads:
        connection.execute(f"SET threads = {threads}")
    try:
        connection.execute(f"SET memory_limit = {literal(memory)}")
    except duckdb.Error:
        raise ConfigError(f"--memory {memory!r} is not a size: write it like 4GB or 800MB") from None
    connection.execute(f"SET temp_directory = {literal(str(scratch))}")
    connection.execute("SET enable_progress_bar = false")
    # The temporary files that ingest reads have the same names again and again, with other contents.
    connection.execute("SET enable_external_file_cache = false")
    held = size_in_bytes(memory) // (JOBS_PER_MEMORY * HELD_BYTES * (threads or os.cpu_count() or 1))
    held = min(MOST_HELD, max(FEWEST_HELD, held))
    connection.execute(f"SET partitioned_write_flush_threshold = {held}")
    # Joins run as written, with the smaller table on the right: DuckDB's estimates of the rows a chain of
    # joins leaves were so wrong that it put all comments into a hash table.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    return connection


@contextmanager
def job_connection(share: Share, scratch: str, *, in_order: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection for a job with its share of threads and memory, and close it.

    Unless `in_order`, rows keep no order until a query sorts them, which saves memory.
    """
    Path(scratch).mkdir(parents=True, exist_ok=True)
    with closing(open_duckdb(share.memory, Path(scratch), share.threads)) as connection:
        if not in_order:
            connection.execute("SET preserve_insertion_order = false")
        yield connection


class DuckDBEngine:
    """Runs lazy tables on the connection of the build, so that one memory limit holds for everything."""

    def __init__(self, settings: EngineSettings) -> None:
        self.connection = settings.connection
        self.memory = settings.memory
        memory = size_in_bytes(settings.memory)
        self.fan_out = min(FAN_OUT[1], max(FAN_OUT[0], memory // _PARTITION_BYTES))
        self.most = max(1, min(cores_here(), memory // SMALLEST_SHARE))
        self.job_bytes = max(SMALLEST_JOB, memory // self.most // JOBS_PER_MEMORY)
        # Tables have no order until the last queries sort them; keeping one would take memory.
        self.connection.execute("SET preserve_insertion_order = false")

    def scan(self, paths: Sequence[Path]) -> Frame:
        """Return one scan over all files, which is faster than a union of scans."""
        files = [str(path) for path in paths]
        frame: Frame = nw.from_native(self.connection.read_parquet(files, hive_partitioning=False))
        return frame

    def save(self, frame: Frame, folder: Path) -> None:
        """Write with COPY, which has options for compression."""
        folder.mkdir(parents=True, exist_ok=True)
        self._copy(frame.to_native().sql_query(), folder / "part.parquet", PARQUET_OPTIONS)

    def scatter(self, frame: Frame, folder: Path, column: str, size: int) -> None:
        """Partition by hash, which differs between versions of DuckDB, so the folders must not be kept."""
        whole, count = self._whole(frame, folder, size)
        self._partition(whole, folder, f"CAST(hash({column}) % {count} AS INTEGER)", count)

    def split(self, frame: Frame, folder: Path, keys: Sequence[str], size: int) -> None:
        """Partition by ranges whose bounds are quantiles of a sample.

        DuckDB's own sort holds back a share of its rows that grows with the table, so it cannot be bounded.
        """
        whole, count = self._whole(frame, folder, size)
        listed = ", ".join(keys)
        sample = (
            f"SELECT {listed} FROM (SELECT {listed} FROM {read_folder(whole)}"
            f" USING SAMPLE reservoir({SAMPLED * count} ROWS)) ORDER BY ALL"
        )
        found = self.connection.execute(sample).fetchall() if count > 1 else []
        bounds = sorted(set(found[len(found) // count :: max(1, len(found) // count)]))
        self._partition(whole, folder, range_number(keys, bounds), len(bounds) + 1)

    def _whole(self, frame: Frame, folder: Path, size: int) -> tuple[Path, int]:
        """Write a table before it is partitioned, and return the number of parts.

        What a partitioned write holds back cannot be spilled, so a join in the same query would leave too
        little memory for it.
        """
        whole = folder / "whole"
        self.save(frame, whole)
        return whole, max(1, -(-size_of(whole) // size))

    def _partition(self, whole: Path, folder: Path, number: str, count: int) -> None:
        """Partition a table by a number below `count`, in several rounds if one would need too many files."""
        if count == 1:
            return
        width = 1
        while width * self.fan_out < count:
            width *= self.fan_out
        self._divide(f"SELECT *, {number} AS part FROM {read_folder(whole)}", folder, width)
        shutil.rmtree(whole)

    def _divide(self, query: str, folder: Path, width: int) -> None:
        """Write `width` parts together, then divide them further."""
        if width == 1:
            self._copy(query, folder, f"{PARQUET_OPTIONS}, OVERWRITE_OR_IGNORE, PARTITION_BY (part)")
            return
        coarse = folder / f"by-{width}"
        blocks = f"SELECT *, part // {width} AS block FROM ({query})"
        self._copy(blocks, coarse, f"{PARQUET_OPTIONS}, OVERWRITE_OR_IGNORE, PARTITION_BY (block)")
        for block in numbered(coarse, "block"):
            self._divide(f"SELECT * FROM {read_folder(block)}", folder, width // self.fan_out)
            shutil.rmtree(block)
        coarse.rmdir()

    def _copy(self, query: str, target: Path, options: str) -> None:
        self.connection.execute(f"COPY ({query}) TO {literal(str(target))} ({options})")

    def collect(self, frame: Frame) -> pa.Table:
        return frame.to_native().to_arrow_table()

    def share(self, jobs: int, *, extra: int = 0, at_once: int = 0) -> Share:
        """Run as many jobs at once as this machine has cores and memory for; fewer jobs have more threads."""
        room = memory_here() - size_in_bytes(self.memory) - SPARE
        most = min(self.most, room // extra) if extra else self.most
        at_once = max(1, min(jobs, at_once or most))
        memory = self.memory if at_once == 1 else f"{size_in_bytes(self.memory) // at_once // 1_000_000}MB"
        return Share(at_once, max(1, cores_here() // at_once), memory)

    def run_jobs(self, function: JobFunction, jobs: Sequence[Any], watch: WatchJobs = ignore, at_once: int = 1) -> None:
        """Run jobs in this thread, where Ctrl-C arrives at once, or several in threads of their own.

        If one fails, or at Ctrl-C, the others end when they next report.
        """
        if at_once == 1:
            for number, job in enumerate(jobs):
                function(job, partial(watch, number))
            return
        stopped = Event()

        def watched(number: int, done: int) -> None:
            if stopped.is_set():
                raise CancelledError
            watch(number, done)

        pool = ThreadPoolExecutor(at_once)
        try:
            started = [pool.submit(function, job, partial(watched, number)) for number, job in enumerate(jobs)]
            for finished in as_completed(started):
                finished.result()
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Leave the connection open: it belongs to the build."""


def range_number(keys: Sequence[str], bounds: Sequence[tuple[object, ...]], first: int = 0) -> str:
    """Return the SQL of the number of bounds that are not after the keys of a row, as a binary search."""
    if not bounds:
        return str(first)
    middle = len(bounds) // 2
    left = range_number(keys, bounds[:middle], first)
    right = range_number(keys, bounds[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {_before(keys, bounds[middle])} THEN {left} ELSE {right} END"


def _before(keys: Sequence[str], bound: Sequence[object]) -> str:
    """Return the condition that the keys of a row are before a bound."""
    value = literal(bound[0]) if isinstance(bound[0], str) else str(bound[0])
    if len(keys) == 1:
        return f"{keys[0]} < {value}"
    return f"({keys[0]} < {value} OR ({keys[0]} = {value} AND {_before(keys[1:], bound[1:])}))"


def readable_error(error: Exception, out: Path) -> BaseException:
    """Return an error of DuckDB as one that says what to do.

    Ctrl-C arrives as an error too: of a query, of the stream of its result (a text only), or, while DuckDB
    imports a module, of that import.
    """
    text = " ".join(str(error).split())
    interrupted = text == "Query interrupted" or text.endswith("KeyboardInterrupt:")
    if interrupted or isinstance(error, duckdb.InterruptException):
        return KeyboardInterrupt()
    if is_disk_full(text):
        return disk_full(out)
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(f"{out}: not enough memory for this step: allow more with --memory")
    return error


def is_disk_full(text: str) -> bool:
    """Return whether an error message of DuckDB is about a full disk."""
    return any(sign in text for sign in ("No space left", "Disk quota", "max_temp_directory_size"))


def literal(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def literals(paths: Iterable[Path]) -> str:
    """Return paths as an SQL list."""
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def any_of(column: str, words: Iterable[str]) -> str:
    """Return the condition that a column is one of these words."""
    listed = ", ".join(map(literal, words))
    return f"{column} IN ({listed})" if listed else "false"


def read_folder(folder: Path) -> str:
    """Return the table function that reads all Parquet files below a folder."""
    return f"read_parquet({literals(parquet_files(folder))}, hive_partitioning=false)"


CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def cores_here() -> int:
    """Return the number of cores, at least one."""
    return os.cpu_count() or 1


def memory_here() -> int:
    """Return the bytes of memory that this process may use; 0 if the system does not say."""
    if not hasattr(os, "sysconf"):
        return 0
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([whole, *_container_limits()])


def _container_limits() -> list[int]:
    """Return the limits of our control group and those above it (cgroup v2), where there are any."""
    try:
        own = next(line[3:] for line in OWN_CGROUP.read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return []
    folder = CGROUPS / own.strip("/")
    return [
        int(text)
        for place in (folder, *folder.parents)
        if place.is_relative_to(CGROUPS) and (text := _read(place / "memory.max")).isdecimal()
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
