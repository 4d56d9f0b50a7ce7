"""Where the relational steps run. What they do is written once, in Narwhals; an engine reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import narwhals as nw
import pyarrow as pa

from deadpan.corpus.rules import literals
from deadpan.registry import Registry

Frame: TypeAlias = nw.LazyFrame[Any]
"""A table that is not computed yet, on whichever engine."""

ENGINES = Registry(
    "engine",
    {
        "duckdb": "deadpan.corpus.engine_duckdb:DuckDBEngine",
        "spark": "deadpan.corpus.engine_spark:SparkEngine",
    },
)


class Engine(Protocol):
    """What a place to run must be able to do."""

    name: str

    def scan(self, paths: Sequence[Path]) -> Frame:
        """Parquet files of one shape as a lazy table."""
        ...

    def save(self, frame: Frame, folder: Path, by: str = "") -> None:
        """Run a lazy table into Parquet files of a folder; with `by`, into `by=value` folders inside it."""
        ...

    def dealt(self, frame: Frame, column: str, piles: int) -> Frame:
        """With a column `pile`, one number below `piles` for each value of a column, whichever."""
        ...

    def table(self, frame: Frame) -> pa.Table:
        """Run a lazy table whose result is small."""
        ...

    def query(self, frame: Frame, computed: Callable[[], Path]) -> str:
        """A lazy table as SQL for DuckDB; of the folder it is `computed` into, where DuckDB cannot run it."""
        ...

    def each(self, work: Callable[[str], None], jobs: Sequence[str]) -> None:
        """Do independent pieces of work, wherever there is room. `work` is a plain function of a module."""
        ...

    def aside(self) -> Engine:
        """The same engine, for use by another thread."""
        ...

    def interrupt(self) -> None:
        """Break off what another thread is running on it."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files a step wrote, in a fixed order."""
    return sorted(path for path in folder.rglob("*.parquet") if path.is_file())


def files_of(folder: Path) -> str:
    """SQL: all Parquet files of a step."""
    return f"read_parquet({literals(parquet_files(folder))})"
