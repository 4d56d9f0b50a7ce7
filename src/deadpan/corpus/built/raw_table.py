"""The rows of a raw corpus: of a finished corpus, of Parquet files, or of the released CSV and TSV."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.sql import literal, literals, parquet_files
from deadpan.drops import Tally
from deadpan.errors import DataError, reason_of
from deadpan.formats.rows import TableRow
from deadpan.formats.sarc import read_raw_rows
from deadpan.storage import manifest_path

CURE = "give the raw file of SARC, a Parquet file with its columns, or the folder of a corpus"
WORDS = "length(comment) - length(replace(comment, ' ', '')) + 1"
ROWS_AT_ONCE = 50_000
_SCHEMA = pa.schema(
    [("label", pa.int64()), ("author", pa.string()), ("subreddit", pa.string()), ("score", pa.int64()),
     ("date", pa.string()), ("words", pa.int64())]
)  # fmt: skip

Source = BuiltCorpus | Path | str


@dataclass(frozen=True, slots=True)
class RawTable:
    """An open connection with a view `raw` of (label, author, subreddit, score, date, words)."""

    name: Path
    connection: duckdb.DuckDBPyConnection
    unreadable: int = 0

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the result of a query."""
        return self.connection.execute(query).fetchall()


@contextmanager
def open_raw(source: Source) -> Iterator[RawTable]:
    """Open the rows of a finished corpus, of Parquet files or of a released raw file."""
    with ExitStack() as stack:
        connection = stack.enter_context(duckdb.connect())
        corpus = as_corpus(source)
        path = corpus.folder if corpus else Path(str(source))
        files = [corpus.parquet] if corpus else _parquet(path)
        unreadable = 0
        if files:
            listed = f"read_parquet({literals(files)}, hive_partitioning=false)"
            _check_columns(connection, listed, path)
            view = f"SELECT label, author, subreddit, score, date, {WORDS} AS words FROM {listed}"
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            unreadable = _convert(path, folder / "raw.parquet")
            view = f"SELECT * FROM read_parquet({literal(str(folder / 'raw.parquet'))})"
        connection.execute(f"CREATE VIEW raw AS {view}")
        yield RawTable(path, connection, unreadable)


def as_corpus(source: Source) -> BuiltCorpus | None:
    """Return a finished corpus; None if the source is something else."""
    if isinstance(source, BuiltCorpus):
        return source
    path = Path(source)
    return BuiltCorpus(path) if path.is_dir() and manifest_path(path).is_file() else None


def _parquet(path: Path) -> list[Path]:
    if path.is_dir():
        files = parquet_files(path)
        if not files:
            raise DataError(f"{path}: no finished corpus and no Parquet files: {CURE}")
        return files
    if not path.is_file():
        raise DataError(f"{path}: no such file or folder: {CURE}")
    return [path] if path.suffix == ".parquet" else []


def _check_columns(connection: duckdb.DuckDBPyConnection, listed: str, path: Path) -> None:
    try:
        connection.execute(f"SELECT label, author, subreddit, score, date, comment FROM {listed} LIMIT 0")
    except duckdb.Error as bad:
        raise DataError(f"{path}: not the rows of a raw corpus ({reason_of(bad)}): {CURE}") from None


def _convert(path: Path, target: Path) -> int:
    """Write the columns of a released raw file as Parquet; return the number of rows that cannot be read."""
    tally = Tally()
    source = read_raw_rows(path, tally, CURE)
    with pq.ParquetWriter(target, _SCHEMA) as writer:
        while some := list(islice(source, ROWS_AT_ONCE)):
            rows = [found for row in some if (found := _row(row, tally))]
            columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(_SCHEMA.types)]
            writer.write_table(pa.table(columns, schema=_SCHEMA))
    return tally.dropped


def _row(row: TableRow, tally: Tally) -> tuple[int, str, str, int, str, int] | None:
    words = len(row.text("comment").split())
    try:
        label, score = int(row.text("label")), int(row.text("score"))
    except ValueError:
        tally.drop("not_a_number", row.place)
        return None
    return label, row.text("author"), row.text("subreddit"), score, row.text("date"), words
