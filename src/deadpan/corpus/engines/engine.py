"""The interface of an engine. The relational steps are written once, in Narwhals, for any engine.

A job is a dataclass of plain values, and a function of a module that runs it: `read_dump(job, report)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_type_hints

import narwhals as nw
import pyarrow as pa

from deadpan.errors import ConfigError
from deadpan.registry import Registry
from deadpan.validation import decode, encode

if TYPE_CHECKING:
    import duckdb

# A lazy table of any engine.
Frame: TypeAlias = nw.LazyFrame[Any]

# A function of a module that runs one job: `function(job, report=ignore)`.
JobFunction: TypeAlias = Callable[..., None]

# Called by a job with how far it is.
Report: TypeAlias = Callable[[int], None]

# Called with the number of a job and how far it is.
WatchJobs: TypeAlias = Callable[[int, int], None]


def ignore(*_: int) -> None:
    """Report nothing."""


ENGINES = Registry(
    "engine",
    {"duckdb": "deadpan.corpus.engines.duckdb:DuckDBEngine", "spark": "deadpan.corpus.engines.spark:SparkEngine"},
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

        `parts_of` returns the folders.
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

    def run_jobs(self, function: JobFunction, jobs: Sequence[Any], watch: WatchJobs = ignore, at_once: int = 1) -> None:
        """Call a function of a module on every job; jobs are independent of each other.

        On one machine `at_once` of them run in parallel; a cluster runs as many as it has cores. An engine
        that runs them in this process tells `watch` how far they are.
        """
        ...

    def close(self) -> None:
        """Release resources."""
        ...


def job_as_text(function: JobFunction, job: Any) -> tuple[str, str]:
    """Return a job for a worker that may have another version of this package, or none: no pickle."""
    return f"{function.__module__}:{function.__name__}", json.dumps(encode(job))


def run_job_text(name: str, text: str) -> None:
    """Run a job on a worker, from the result of `job_as_text`."""
    module, _, attribute = name.partition(":")
    function = getattr(import_module(module), attribute)
    function(decode(json.loads(text), get_type_hints(function)["job"]))


def count_rows(engine: Engine, folder: Path) -> int:
    """Return the number of rows in the Parquet files of a folder."""
    counted = engine.scan(parquet_files(folder)).select(count=nw.len())
    return int(engine.collect(counted)["count"][0].as_py())


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.parquet") if path.is_file())


def parts_of(folder: Path) -> list[Path]:
    """Return the folders that `Engine.split` or `Engine.scatter` wrote, in order."""
    return numbered(folder) or [folder / "whole"]


def numbered(folder: Path, column: str = "part") -> list[Path]:
    """Return the folders of a partitioned table by their number."""
    return sorted(folder.glob(f"{column}=*"), key=lambda path: int(path.name.partition("=")[2]))


def size_of(folder: Path) -> int:
    """Return the bytes of all Parquet files below a folder."""
    return sum(path.stat().st_size for path in parquet_files(folder))


def size_in_bytes(memory: str) -> int:
    """Return a size such as 4GB or 800 MiB in bytes."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kmgt]?)(i?)b?\s*", memory, re.IGNORECASE)
    if not match:
        raise ConfigError(f"--memory {memory!r} is not a size: write it like 4GB or 800MB")
    unit = 1024 if match[3] else 1000
    return int(float(match[1]) * unit ** " kmgt".index(match[2].lower() or " "))
