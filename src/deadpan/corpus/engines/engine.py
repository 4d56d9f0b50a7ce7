"""The interface of an engine. The relational steps are written once, in Narwhals, for any engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import narwhals as nw
import pyarrow as pa

from deadpan.corpus.sql import parquet_files
from deadpan.registry import Registry

if TYPE_CHECKING:
    import duckdb

Frame: TypeAlias = nw.LazyFrame[Any]
"""A lazy table of any engine."""

Watch: TypeAlias = Callable[[str, int], None]
"""Called by a job with its own text and how far it is."""

Work: TypeAlias = Callable[..., None]
"""A function of a module that runs one job: `work(job, watch=ignore)`."""


def ignore(job: str, done: int) -> None:
    """Report nothing."""


ENGINES = Registry(
    "engine",
    {
        "duckdb": "deadpan.corpus.engines.duckdb:DuckDBEngine",
        "spark": "deadpan.corpus.engines.spark:SparkEngine",
    },
    "deadpan.engines",
)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The only argument of the class of an engine.

    `connection` is the DuckDB connection of the build, which has its own memory limit; `scratch` is a folder
    for temporary files; `master` is the address of a cluster; `data_bytes` is the size of the dumps.
    """

    connection: duckdb.DuckDBPyConnection
    memory: str
    scratch: Path
    master: str
    data_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """The number of jobs that run at once on one machine, and the threads and memory of each."""

    at_once: int
    threads: int
    memory: str


class Engine(Protocol):
    """A place to run lazy tables. All methods are called from one thread, and return when they are done."""

    def scan(self, paths: Sequence[Path]) -> Frame:
        """Return Parquet files with the same columns as a lazy table."""
        ...

    @property
    def job_bytes(self) -> int:
        """Return how many bytes of a table a job may hold in memory, as a part of what the engine may use."""
        ...

    def save(self, frame: Frame, folder: Path) -> None:
        """Compute a lazy table into Parquet files in a folder."""
        ...

    def scatter(self, frame: Frame, folder: Path, column: str, size: int) -> None:
        """Compute a lazy table into folders of about `size` bytes each; a value of `column` is in one only.

        `sql.parts_of` returns the folders.
        """
        ...

    def split(self, frame: Frame, folder: Path, keys: Sequence[str], size: int) -> None:
        """Compute a lazy table into folders of about `size` bytes each, of ascending ranges of the keys.

        Rows with equal keys are in one folder, in no order: to sort the table, sort each folder.
        """
        ...

    def collect(self, frame: Frame) -> pa.Table:
        """Compute a lazy table whose result is small."""
        ...

    def share(self, jobs: int, *, extra: int = 0, at_once: int = 0) -> Share:
        """Divide what the engine may use between jobs, each of which needs `extra` bytes more than its share.

        `at_once` is the number of jobs that run at once, if the user has chosen it.
        """
        ...

    def run_jobs(self, work: Work, jobs: Sequence[str], watch: Watch = ignore, at_once: int = 1) -> None:
        """Call `work`, a function of a module, on every job; jobs are independent of each other.

        On one machine `at_once` of them run in parallel; a cluster runs as many as it has cores. An engine
        that runs them in this process hands `watch` to them, to report how far they are.
        """
        ...

    def close(self) -> None:
        """Release resources."""
        ...


def count_rows(engine: Engine, folder: Path) -> int:
    """Return the number of rows in the Parquet files of a folder."""
    counted = engine.scan(parquet_files(folder)).select(count=nw.len())
    return int(engine.collect(counted)["count"][0].as_py())
