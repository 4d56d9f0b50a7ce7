"""Statistics of a finished corpus (stats.json), or of the rows of any raw corpus."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.engines.duckdb import literal, literals
from deadpan.corpus.engines.engine import parquet_files
from deadpan.drops import Tally
from deadpan.errors import DataError, reason_of
from deadpan.formats.rows import TableRow
from deadpan.formats.sarc import read_raw_rows
from deadpan.results import Result
from deadpan.stats.interval import Interval, wilson
from deadpan.storage import manifest_path, read_json

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table

_MONTHS_SHOWN = 24


@dataclass(frozen=True, slots=True)
class CorpusStatistics(Result):
    """Contents of stats.json; the summary shows the last months and the largest `top` subreddits."""

    folder: Path
    values: Mapping[str, Any] = field(repr=False)
    top: int = 12

    def as_dict(self) -> dict[str, object]:
        return dict(self.values)

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary

        totals, sequences = self.values["totals"], self.values["sequences"]
        notes = (
            f"{totals['comments']:,} comments by {totals['authors']:,} authors in {totals['subreddits']:,} "
            f"subreddits; {totals['sarcastic']:,} are sarcastic ({100 * totals['share_sarcastic']:.2f} %).",
            f"{sequences['count']:,} sequences; on average {100 * sequences['mean_share_sarcastic']:.1f} % "
            f"of the replies are sarcastic.",
            f"All statistics: {self.folder / 'stats.json'}",
        )
        return Summary((self._benchmarks(), self._months(), self._subreddits()), notes)

    def _benchmarks(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, part, one["count"], one["replies"], _percent(one["mean_share_sarcastic"]))
            for name, parts in self.values["benchmarks"].items()
            for part, one in parts.items()
        )
        return Table(("benchmark", "file", "sequences", "replies", "sarcastic"), rows)

    def _months(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, one.get("kept", 0), one["authors"], one["authors_marking"],
             _percent(one["share_authors_marking"]))
            for name, one in list(self.values["months"].items())[-_MONTHS_SHOWN:]
        )  # fmt: skip
        return Table(("month", "kept", "authors", "use the marker", "share"), rows)

    def _subreddits(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, one["comments"], one["sarcastic"], _percent(one["share_sarcastic"]))
            for name, one in list(self.values["subreddits"].items())[: self.top]
        )
        return Table(("subreddit", "comments", "sarcastic", "share"), rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def read_statistics(source: Source, *, top: int = 12) -> CorpusStatistics | RawStatistics:
    """Return the statistics of a finished corpus, or of the rows of a released raw file or Parquet files."""
    path = source.folder if isinstance(source, BuiltCorpus) else Path(source)
    corpus = as_corpus(source)
    if corpus is None and (path.is_file() or any(path.glob("**/*.parquet"))):
        return raw_statistics(path, top=top)
    corpus = corpus or BuiltCorpus(path)
    return CorpusStatistics(corpus.folder, read_json(corpus.folder / "stats.json"), top)


@dataclass(frozen=True, slots=True)
class RawStatistics(Result):
    """Sizes of a raw corpus, and the share of sarcasm in all of it and in its largest subreddits."""

    source: Path
    comments: int
    sarcastic: int
    authors: int
    months: tuple[str, str]
    subreddits: dict[str, tuple[int, int]]
    unreadable: int = 0
    top: int = 12

    @property
    def share(self) -> Interval:
        return wilson(self.sarcastic, self.comments)

    def as_dict(self) -> dict[str, object]:
        return {
            "source": str(self.source),
            "totals": {
                "comments": self.comments, "sarcastic": self.sarcastic, "authors": self.authors,
                "subreddits": len(self.subreddits), "share_sarcastic": self.share.value,
                "interval": [self.share.low, self.share.high],
            },
            "months": list(self.months),
            "unreadable": self.unreadable,
            "subreddits": {
                name: {"comments": count, "sarcastic": sarcastic}
                for name, (count, sarcastic) in self.subreddits.items()
            },
        }  # fmt: skip

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        sizes = (
            ("comments", f"{self.comments:,}"), ("sarcastic", f"{self.sarcastic:,}"),
            ("share sarcastic", _percent_with_interval(self.share)), ("authors", f"{self.authors:,}"),
            ("subreddits", f"{len(self.subreddits):,}"), ("months", " to ".join(self.months)),
        )  # fmt: skip
        shown = list(self.subreddits.items())[: self.top]
        rows = tuple((name, count, s, _percent_with_interval(wilson(s, count))) for name, (count, s) in shown)
        notes = [f"{self.unreadable:,} rows cannot be read."] if self.unreadable else []
        if len(shown) < len(self.subreddits):
            notes.append(f"{len(self.subreddits) - len(shown):,} smaller subreddits are not shown (--top).")
        tables = (
            Table(("Table 1 of the paper", "here"), sizes),
            Table(("subreddit", "comments", "sarcastic", "share [95 % CI]"), rows),
        )
        return Summary(tables, tuple(notes))


def _percent_with_interval(share: Interval) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.2f} % [{100 * share.low:.2f}, {100 * share.high:.2f}]"


def raw_statistics(source: Source, *, top: int = 12) -> RawStatistics:
    """Return the statistics of the rows of a corpus, a released raw file or Parquet files."""
    with open_raw(source) as table:
        ((authors, first, last),) = table.rows("SELECT count(DISTINCT author), min(date), max(date) FROM raw")
        found = table.rows(
            "SELECT subreddit, count(*), count(*) FILTER (label = 1) FROM raw GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        if not found:
            raise DataError(f"{table.name}: no rows")
        return RawStatistics(
            source=table.name,
            comments=sum(count for _, count, _ in found),
            sarcastic=sum(sarcastic for *_, sarcastic in found),
            authors=authors,
            months=(first, last),
            subreddits={name: (count, sarcastic) for name, count, sarcastic in found},
            unreadable=table.unreadable,
            top=top,
        )


_HINT = "give the raw file of SARC, a Parquet file with its columns, or the folder of a corpus"
_WORDS = "length(comment) - length(replace(comment, ' ', '')) + 1"
_BATCH_ROWS = 50_000
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
            view = f"SELECT label, author, subreddit, score, date, {_WORDS} AS words FROM {listed}"
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
            raise DataError(f"{path}: no finished corpus and no Parquet files: {_HINT}")
        return files
    if not path.is_file():
        raise DataError(f"{path}: no such file or folder: {_HINT}")
    return [path] if path.suffix == ".parquet" else []


def _check_columns(connection: duckdb.DuckDBPyConnection, listed: str, path: Path) -> None:
    try:
        connection.execute(f"SELECT label, author, subreddit, score, date, comment FROM {listed} LIMIT 0")
    except duckdb.Error as bad:
        raise DataError(f"{path}: not the rows of a raw corpus ({reason_of(bad)}): {_HINT}") from None


def _convert(path: Path, target: Path) -> int:
    """Write the columns of a released raw file as Parquet; return the number of rows that cannot be read."""
    tally = Tally()
    source = read_raw_rows(path, tally, _HINT)
    with pq.ParquetWriter(target, _SCHEMA) as writer:
        while some := list(islice(source, _BATCH_ROWS)):
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
