"""Statistics of a finished corpus (stats.json) or of the rows of any raw corpus, and the paper's figures."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, islice
from math import sqrt
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.built.folder import BuiltCorpus, WrittenFiles
from deadpan.corpus.engines.duckdb import literal, literals
from deadpan.corpus.engines.engine import parquet_files
from deadpan.corpus.release import add_own_files, own_folder
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, need, reason_of
from deadpan.figures import Figure, distribution, whiskers
from deadpan.formats.rows import TableRow
from deadpan.formats.sarc import read_raw_rows
from deadpan.page import Summary, Table
from deadpan.results import Result
from deadpan.stats.interval import Interval, wilson
from deadpan.storage import manifest_path, read_json, write_text

_MONTHS_SHOWN = 24
_SHARES = ("share_sarcastic", "mean_share_sarcastic")  # of all replies, and the mean of the shares of the sequences


@dataclass(frozen=True, slots=True)
class CorpusStatistics(Result):
    """Contents of stats.json; the summary shows the last months and the largest `top` subreddits."""

    folder: Path
    values: Mapping[str, Any] = field(repr=False)
    top: int = 12

    def as_dict(self) -> dict[str, object]:
        return dict(self.values)

    def summary(self) -> Summary:
        totals, sequences, use = (self.values[name] for name in ("totals", "sequences", "marker_use"))
        notes = (
            f"{totals['comments']:,} comments by {totals['authors']:,} authors in {totals['subreddits']:,} "
            f"subreddits; {totals['sarcastic']:,} are sarcastic ({100 * totals['share_sarcastic']:.2f} %).",
            f"{sequences['count']:,} sequences: {_percent(sequences['share_sarcastic'])} of all their replies are "
            f"sarcastic, and {_percent(sequences['mean_share_sarcastic'])} of the replies of a sequence on average.",
            f"{100 * use['share_authors_marking']:.3f} % of {use['authors']:,} authors in the dumps use the marker.",
            f"All statistics: {self.folder / 'stats.json'}",
        )
        return Summary((self._benchmarks(), self._months(), self._subreddits()), notes)

    def _benchmarks(self) -> Table:
        rows = tuple(
            (name, part, one["count"], one["replies"], *(_percent(one[share]) for share in _SHARES))
            for name, parts in self.values["benchmarks"].items()
            for part, one in parts.items()
        )
        return Table(("benchmark", "file", "sequences", "replies", "sarcastic", "mean by sequence"), rows)

    def _months(self) -> Table:
        rows = tuple(
            (name, one.get("kept", 0), one["authors"], one["authors_marking"],
             _percent(one["share_authors_marking"]))
            for name, one in list(self.values["months"].items())[-_MONTHS_SHOWN:]
        )  # fmt: skip
        return Table(("month", "kept", "authors", "use the marker", "share"), rows)

    def _subreddits(self) -> Table:
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
    if corpus is None and not (path / ".work").is_dir() and (path.is_file() or any(path.glob("**/*.parquet"))):
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
        files = [] if (path / ".work").is_dir() else parquet_files(path)  # those of a build are not its rows
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


def _row(row: TableRow, tally: Tally) -> tuple[int, str, str, int | None, str, int] | None:
    words = len(row.text("comment").split())
    try:
        label, score = int(row.text("label")), int(row.text("score")) if row.text("score") else None
    except ValueError:
        tally.drop("not_a_number", row.place)
        return None
    return label, row.text("author"), row.text("subreddit"), score, row.text("date"), words


# ---------------------------------------------------------------- the figures of the paper

_DRAWN = 50_000  # comments per label in a distribution
_BARS = 30
_ALPHA = 0.05
PAPER_CUT = 1_000_000  # comments of a subreddit in Figure 2 of the paper
_CUTS = (PAPER_CUT, 100_000, 10_000, 1_000, 100, 10, 1)
_FEWEST = 5  # subreddits that make a figure
_SCORES, _LENGTHS = (-20, 40), (1, 80)
_Z = 1.96


def draw_figures(source: Source, *, min_comments: int | None = None, out: Path | str | None = None) -> WrittenFiles:
    """Draw figures/*.svg and .png of a corpus, or of the rows in a released raw file or in Parquet files.

    The numbers of each figure are beside it, as .csv.

    The figures of a finished corpus go into its folder; others need `out`. Without `min_comments`, the figure
    of subreddits has the paper's size cut, a million comments, or the next lower power of ten.
    """
    corpus = as_corpus(source)
    folder = Path(out) if out is not None else own_folder(corpus.folder, "figures") if corpus else None
    if folder is None:
        raise ConfigError(f"{source}: not the folder of a corpus: say where to write the figures with --out")
    with open_raw(source) as table:
        figures = {
            "subreddits": subreddit_figure(table, min_comments),
            "scores": score_figure(table),
            "lengths": length_figure(table),
            "sarcasm-by-time": sarcasm_figure(table),
            "marker-by-time": marker_figure(table, corpus),
        }
    paths: tuple[Path, ...] = ()
    for name, figure in figures.items():
        numbers = io.StringIO()
        csv.writer(numbers, lineterminator="\n").writerows(_plain_rows(figure.table))
        write_text(folder / f"{name}.csv", numbers.getvalue())
        paths += (*figure.save(folder, name), folder / f"{name}.csv")
    if corpus and out is None:
        add_own_files(corpus.folder, "figures")
    return WrittenFiles(paths)


def _plain_rows(table: Table) -> list[list[object]]:
    """Return a table as cells of one number each: an interval is its value, its bounds and its n."""
    spread = {at for row in table.rows for at, cell in enumerate(row) if isinstance(cell, Interval)}
    header = [[name, "low", "high", "n"] if at in spread else [name] for at, name in enumerate(table.columns)]
    rows: list[list[object]] = [
        [
            part
            for cell in row
            for part in ((cell.value, cell.low, cell.high, cell.n) if isinstance(cell, Interval) else (cell,))
        ]
        for row in table.rows
    ]
    return [[name for names in header for name in names], *rows]


def subreddit_figure(table: RawTable, min_comments: int | None = None) -> Figure:
    """Draw the share of sarcastic comments by subreddit above a size (Figure 2 of the paper)."""
    sizes = table.rows(
        "SELECT subreddit, count(*), count(*) FILTER (label = 1) FROM raw WHERE subreddit <> '' GROUP BY 1"
    )
    cut = _cut([count for _, count, _ in sizes]) if min_comments is None else min_comments
    large = {name: (sarcastic, count) for name, count, sarcastic in sizes if count >= cut}
    if not large:
        raise DataError(f"no subreddit has {cut:,} comments in the corpus: lower --min-comments")
    shares = {name: wilson(*counts) for name, counts in large.items()}
    ranked = sorted(shares.items(), key=lambda one: (-(one[1].value or 0), one[0]))
    shown = ranked if len(ranked) <= _BARS else [*ranked[: _BARS // 2], *ranked[-_BARS // 2 :]]
    extremes = f"; shown are the {_BARS // 2} highest and lowest" if len(shown) < len(ranked) else ""
    paper = ", the paper's cut" if cut == PAPER_CUT else ""
    left_out = f"{len(ranked):,} subreddits of {cut:,} comments or more{paper}{extremes}"
    title = f"{_subreddit_title(large)} ({left_out}; {len(sizes) - len(ranked):,} smaller left out)"
    return whiskers(title, dict(shown), unit="share sarcastic")


def _cut(sizes: Sequence[int]) -> int:
    """Return the paper's cut, or the largest power of ten below that leaves enough subreddits."""
    return next((cut for cut in _CUTS if sum(size >= cut for size in sizes) >= _FEWEST), _CUTS[-1])


def _subreddit_title(counts: Mapping[str, tuple[int, int]]) -> str:
    """Return the finding: a difference only if intervals for that many pairs of subreddits are apart."""
    pairs = max(1, len(counts) * (len(counts) - 1) // 2)
    wide = {name: wilson(*count, level=1 - _ALPHA / pairs) for name, count in counts.items()}
    most = max(wide, key=lambda name: (wide[name].low or 0, name))
    least = min(wide, key=lambda name: (wide[name].high or 0, name))
    high, low = wide[most], wide[least]
    if (high.low or 0) <= (low.high or 0):
        return "No two subreddits clearly differ in their share of sarcasm"
    return (
        f"Sarcasm is more common in r/{most} ({100 * (high.value or 0):.3g} %) "
        f"than in r/{least} ({100 * (low.value or 0):.3g} %)"
    )


def score_figure(table: RawTable) -> Figure:
    """Draw scores by label (Figure 3)."""
    return _spread(table, "score", _SCORES, "scores", f"score; the outer bins have all beyond {_SCORES}")


def length_figure(table: RawTable) -> Figure:
    """Draw lengths by label (Figure 4)."""
    return _spread(table, "words", _LENGTHS, "lengths", f"words; the last bin has all from {_LENGTHS[1]} on")


def sarcasm_figure(table: RawTable) -> Figure:
    """Draw the share of sarcastic comments over time."""
    months = {
        str(month)[:7]: (int(sarcastic), int(count))
        for month, count, sarcastic in table.rows(
            "SELECT date, count(*), count(*) FILTER (label = 1) FROM raw WHERE date <> '' GROUP BY 1 ORDER BY 1"
        )
    }
    return _over_time("the share of sarcasm", months, "share sarcastic", table.name)


def marker_figure(table: RawTable, corpus: BuiltCorpus | None = None) -> Figure:
    """Draw the share of authors who use the marker in a month: of all in the dumps, or of those in a raw file."""
    if corpus:
        known = read_json(corpus.folder / "stats.json")["months"]
        months = {month: (one["authors_marking"], one["authors"]) for month, one in known.items() if one["authors"]}
    else:
        counted = "SELECT date, count(DISTINCT author), count(DISTINCT author) FILTER (label = 1) FROM raw"
        rows = table.rows(f"{counted} WHERE date <> '' GROUP BY 1 ORDER BY 1")
        months = {str(month)[:7]: (int(marking), int(authors)) for month, authors, marking in rows}
    whose = "in the dumps" if corpus else "in the corpus"
    return _over_time(f"use of the marker by authors {whose}", months, "share of the authors of a month", table.name)


def _over_time(noun: str, months: Mapping[str, tuple[int, int]], unit: str, name: Path) -> Figure:
    """Draw a share by month, or by year if there are many months; the title compares the first with the last."""
    if not months:
        raise DataError(f"{name}: no row has a month: the column date is empty")
    periods: dict[str, tuple[int, int]] = {}
    for month, (part, total) in sorted(months.items()):
        period = month if len(months) <= _BARS else month[:4]
        before = periods.get(period, (0, 0))
        periods[period] = (before[0] + part, before[1] + total)
    shares = {period: wilson(*counts) for period, counts in periods.items()}
    (first, one), (last, other) = next(iter(shares.items())), list(shares.items())[-1]
    change = f"{100 * (one.value or 0):.3g} % in {first}, {100 * (other.value or 0):.3g} % in {last}"
    if (one.low or 0) > (other.high or 0) or (other.low or 0) > (one.high or 0):
        title = f"{noun[0].upper()}{noun[1:]} changed: {change}"
    else:
        title = f"No clear change of {noun} ({change})"
    return whiskers(title, shares, unit=unit)


def _spread(table: RawTable, measure: str, limits: tuple[int, int], noun: str, unit: str) -> Figure:
    """Draw a distribution per label: one bin per number, medians of all comments, shapes of a sample."""
    values: dict[str, list[float]] = {}
    medians: dict[str, Interval] = {}
    low, high = limits
    for name, label in (("sarcastic", 1), ("sincere", 0)):
        counted = f"SELECT {measure}, count(*) FROM raw WHERE label = {label} AND {measure} IS NOT NULL"
        cells = table.rows(f"{counted} GROUP BY 1 ORDER BY 1")
        if not cells:
            raise DataError(f"{table.name}: no {name} comments to compare: use a corpus with both labels")
        medians[name] = median_interval([(int(value), int(count)) for value, count in cells])
        values[name] = _sample([(max(low, min(high, int(v))), int(n)) for v, n in cells])
    sizes = {name: median.n for name, median in medians.items()}
    title = _spread_title(noun, values, medians)
    return distribution(title, values, unit=unit, bins=high - low + 1, sizes=sizes)


def _sample(cells: Sequence[tuple[int, int]]) -> list[float]:
    """Return all values if there are few, else a systematic sample in proportion to their counts."""
    total = sum(count for _, count in cells)
    step = max(1.0, total / _DRAWN)
    ends = list(accumulate(count for _, count in cells))
    drawn: list[float] = []
    taken = 0
    for (value, _), end in zip(cells, ends, strict=True):
        upto = int(end / step)
        drawn += [float(value)] * (upto - taken)
        taken = upto
    return drawn


def median_interval(cells: Sequence[tuple[int, int]]) -> Interval:
    """Return the median of counted values with its interval of order statistics."""
    total = sum(count for _, count in cells)
    ends = list(accumulate(count for _, count in cells))

    def at(rank: float) -> float:
        place = min(max(int(rank), 0), total - 1)
        return float(next(value for (value, _), end in zip(cells, ends, strict=True) if place < end))

    half = _Z * sqrt(total) / 2
    middle = (at((total - 1) // 2) + at(total // 2)) / 2
    return Interval(middle, at(total / 2 - half), at(total / 2 + half), 1 - _ALPHA, total)


def _spread_title(noun: str, values: Mapping[str, list[float]], medians: Mapping[str, Interval]) -> str:
    """Return the finding: a difference only if a rank test finds one."""
    mannwhitneyu = need("scipy.stats", "train").mannwhitneyu

    p = float(mannwhitneyu(values["sarcastic"], values["sincere"]).pvalue)
    one, other = (
        f"{median.value:g} [{median.low:g}, {median.high:g}]" for median in (medians["sarcastic"], medians["sincere"])
    )
    shown = f"medians {one} if sarcastic, {other} if not"
    if p >= _ALPHA:
        return f"No significant difference in {noun} ({shown}; p = {p:.2f})"
    return f"{noun.capitalize()} differ by label: {shown} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"
