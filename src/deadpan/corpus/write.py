"""The texts of what is kept, and the released files: split into ranges, sorted in parts, put together, by jobs."""

from __future__ import annotations

import bz2
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import Checkpoints, attempt, file_facts
from deadpan.corpus.engines.duckdb import job_connection, literal, read_folder
from deadpan.corpus.engines.engine import Engine, Frame, Report, Share, ignore, parquet_files, parts_of
from deadpan.corpus.rows import Unit, rows_of
from deadpan.corpus.rules import WHITE
from deadpan.formats.sarc import COMMENT_FIELDS, RAW_COLUMNS, TSV_COLUMNS
from deadpan.storage import read_json, write_json

TEXTS_FORMAT = 3  # of the tables; after a change they are computed again
ENTRY_COLUMNS = ("id", "text", "author", "score", "ups", "downs", "month", "created_utc", "subreddit")


@dataclass(frozen=True, slots=True)
class RawInputs:
    """Inputs of the steps below: units, submissions, candidates and the folder of the thread step.

    If `flagged`, entries say whether their comment was kept.
    """

    units: Sequence[Unit]
    posts: Frame
    candidates: Sequence[Path]
    threads: Path
    key: object
    flagged: bool = False


class RawRows:
    """The texts that are needed, the rows of sarc.csv, and the entries of comments.json."""

    def __init__(self, checkpoints: Checkpoints, engine: Engine, inputs: RawInputs) -> None:
        self.checkpoints = checkpoints
        self.engine = engine
        self.inputs = inputs

    def texts(self) -> Path:
        """Compute the texts of all comments that are kept, answered by a kept one, or in a sequence.

        This is the only pass over the texts of all comments, which are most of the data.
        """
        answered = self._kept.filter(~nw.col("up").is_null()).select(id="up")
        wanted = nw.concat([self._kept.select("id"), answered, self._comment_ids()], how="vertical")
        texts = rows_of(
            self.engine,
            self.inputs.units,
            lambda rows: rows.select(*ENTRY_COLUMNS, "original").join(wanted, on="id", how="semi"),
        )
        return self._step("texts", lambda folder: self.engine.save(texts, folder))

    def rows(self, texts: Path) -> Path:
        """Compute the rows of sarc.csv, in ranges of (created_utc, id), each small enough to be sorted.

        One join at a time, and none together with the sort: DuckDB can spill a join, but not several at once.
        """

        def make(folder: Path) -> None:
            found = self.engine.scan(parquet_files(texts))
            said = found.select("id", comment="text").join(self._kept, on="id", how="inner")
            above = found.select(up="id", above="text")
            answers = self._saved(said, folder / "said").join(above, on="up", how="left")
            titles = self.inputs.posts.select(top="id", title="text")
            rows = self._saved(answers, folder / "answers").join(titles, on="top", how="left").select(
                "marked", "comment", "author", "subreddit", "score", "ups", "downs", "month", "created_utc",
                "id",
                parent_comment=nw.coalesce(nw.col("above"), nw.col("title"), nw.lit("")),
                parent_id=nw.coalesce(nw.col("up"), nw.col("top"), nw.lit("")),
                link_id=nw.col("link"),
            )  # fmt: skip
            self.engine.split(rows, folder, ("created_utc", "id"), self.engine.job_bytes)
            for name in ("said", "answers"):
                shutil.rmtree(folder / name)

        return self._step("raw", make)

    def _saved(self, frame: Frame, folder: Path) -> Frame:
        self.engine.save(frame, folder)
        return self.engine.scan(parquet_files(folder))

    def entries(self, texts: Path) -> Path:
        """Compute the entries of comments.json, unordered: `said` by comments, `posted` by submissions."""
        frame = self.engine.scan(parquet_files(texts))
        said = frame.select(*ENTRY_COLUMNS).join(self._comment_ids(), on="id", how="semi")

        def make(folder: Path) -> None:
            comments, posts = said, self._posted()
            if self.inputs.flagged:
                flags = comments.join(self._kept.select("id", kept=nw.lit(True)), on="id", how="left")
                comments = flags.with_columns(kept=nw.coalesce(nw.col("kept"), nw.lit(False)))
                posts = posts.with_columns(kept=nw.lit(None, nw.Boolean))
            self.engine.save(comments, folder / "said")
            self.engine.save(posts, folder / "posted")

        return self._step("entries", make)

    def replies(self, entries: Path) -> Frame:
        """Return the replies of all sequences with their texts, and a row at place 0 for each sequence.

        Only that row has `ancestors` and `subreddit`: in every row they would be most of the table.
        """
        columns = ("post", "last", "place", "id", "label", "text", "ancestors", "subreddit")
        replies = self.engine.scan(parquet_files(self.inputs.threads / "replies"))
        said = self.engine.scan(parquet_files(entries / "said")).select("id", "text")
        with_text = said.join(replies, on="id", how="inner").with_columns(ancestors=nw.lit(""), subreddit=nw.lit(""))
        sequences = self.engine.scan(parquet_files(self.inputs.threads / "sequences"))
        heads = sequences.with_columns(place=nw.lit(0, nw.Int32), label=nw.lit(False), id=nw.lit(""), text=nw.lit(""))
        return nw.concat([with_text.select(*columns), heads.select(*columns)], how="vertical")

    def _step(self, name: str, make: Callable[[Path], None]) -> Path:
        return self.checkpoints.step(name, {"format": TEXTS_FORMAT, "inputs": self.inputs.key}, make)

    @property
    def _kept(self) -> Frame:
        under = self.engine.scan(parquet_files(self.inputs.threads / "under")).select("id")
        files = [file for part in self.inputs.candidates for file in parquet_files(part)]
        return self.engine.scan(files).join(under, on="id", how="anti")

    @property
    def _members(self) -> Frame:
        return self.engine.scan(parquet_files(self.inputs.threads / "members"))

    def _comment_ids(self) -> Frame:
        """Return the ids of the comments, not submissions, in the sequences."""
        return self._members.filter(~nw.col("is_post")).select("id")

    def _posted(self) -> Frame:
        """Return the submissions of the sequences; one that no dump has keeps its id and subreddit only."""
        homes = self._members.filter(nw.col("is_post")).group_by("id").agg(home=nw.col("subreddit").min())
        absent: dict[str, str | int] = {"text": "", "author": "", "month": 0, "created_utc": 0}
        filled = {name: nw.coalesce(nw.col(name), nw.lit(value)) for name, value in absent.items()}
        posts = homes.join(self.inputs.posts.select(*ENTRY_COLUMNS), on="id", how="left")
        subreddit = nw.coalesce(nw.col("subreddit"), nw.col("home"))
        return posts.with_columns(**filled, subreddit=subreddit).select(*ENTRY_COLUMNS)


# ---------------------------------------------------------------- the released files

MONTHS_FOLDER = "parquet"  # folder of the Parquet files by month

_TEXTS = {"comment", "author", "subreddit", "parent_comment", "id", "parent_id", "link_id"}
# Columns of the released files that are not columns of our tables.
_EXPRESSIONS = {
    "label": "CAST(marked AS TINYINT)",
    "author": "one_line(author)",
    "subreddit": "one_line(subreddit)",
    "date": "month_text(month)",
}

# Sorted queries, each with the released files that its text columns are parts of.
Queries = Mapping[str, Mapping[str, str]]


class Outputs:
    """Writes files into a folder that is moved into place when all of them are finished."""

    def __init__(self, engine: Engine, folder: Path, scratch: Path, packed: bool) -> None:
        self.engine = engine
        self.folder = folder.resolve()
        self.scratch = scratch.resolve()
        self.packed = packed
        self.jobs: list[AssemblyJob] = []
        self.facts: dict[str, Path] = {}

    def write_raw(self, rows: Path) -> list[Path]:
        """Write raw/sarc.csv, .tsv, .parquet and a Parquet file per month; return the rows in parts.

        `rows` are ranges of (created_utc, id), the order of the files.
        """
        names = {"csv": "raw/sarc.csv", "tsv": "raw/sarc.tsv"}
        table = "raw/sarc.parquet"
        parts = self._write_parts(parts_of(rows), lambda source: {_raw_query(source): names}, table)
        self.add(names["csv"], parts[names["csv"]], first=",".join(RAW_COLUMNS) + "\r\n")
        self.add(names["tsv"], parts[names["tsv"]])
        self.add(table, parts[table], rows=True)
        months = self.engine.collect(self.engine.scan(parts[table]).select("date").unique())
        for month in sorted(months["date"].to_pylist()):
            found = [part for part in parts[table] if _may_have(part, month)]
            self.add(f"{MONTHS_FOLDER}/month={month}/sarc.parquet", found, rows=True, month=month)
        return parts[table]

    def write_lines(self, lines: Frame, names: Sequence[str]) -> None:
        """Write files of the lines of a table (post, last, file, line), sorted by (post, last)."""

        def queries(source: str) -> Queries:
            return {
                f"SELECT line FROM {source} WHERE file = {literal(name)} ORDER BY post, last": {"line": name}
                for name in names
            }

        for name, parts in self._write_sorted("lines", lines, ("post", "last"), queries).items():
            self.add(name, parts)

    def write_comments(self, entries: Frame, folders: Sequence[str], *, flagged: bool = False) -> None:
        """Write FOLDER/comments.json for raw and each folder, whose column tells which entries it has.

        If `flagged`, every entry says whether its comment was kept (null for a post).
        """
        names = (*COMMENT_FIELDS, "kept") if flagged else COMMENT_FIELDS
        fields = ", ".join(f"{name} := {_EXPRESSIONS.get(name, name)}" for name in names)
        line = f"',' || chr(10) || to_json(id) || ': ' || to_json(struct_pack({fields}))"

        def queries(source: str) -> Queries:
            chosen = {"raw": "true", **{folder: f"in_{number}" for number, folder in enumerate(folders)}}
            return {
                f"SELECT {line} AS line FROM {source} WHERE {condition} ORDER BY id": {
                    "line": f"{folder}/comments.json"
                }
                for folder, condition in chosen.items()
            }

        for name, parts in self._write_sorted("comments", entries, ("id",), queries).items():
            self.add(name, parts, first="{", last="\n}\n", skip=1)  # without the comma before the first entry

    def add(self, name: str, parts: Sequence[Path], **how: Any) -> None:
        """Plan a file that is put together from parts."""
        packed = self.packed and not how.get("rows")
        target = f"{name}.bz2" if packed else name
        facts = self.scratch / "facts" / f"{len(self.facts)}.json"
        places = tuple(str(part) for part in parts)
        self.jobs.append(AssemblyJob(places, str(self.folder / target), str(facts), packed=packed, **how))
        self.facts[target] = facts

    def finish(self) -> dict[str, dict[str, Any]]:
        """Put all planned files together; return their sizes and hashes by name."""
        self.engine.run_jobs(assemble_file, self.jobs, at_once=self.engine.share(len(self.jobs)).at_once)
        return {name: read_json(path) for name, path in self.facts.items()}

    def _write_sorted(
        self, name: str, table: Frame, keys: Sequence[str], queries: Callable[[str], Queries]
    ) -> dict[str, list[Path]]:
        """Split a table by ranges of its keys, and write the parts of its files."""
        folder = self.scratch / name
        self.engine.split(table, folder, keys, self.engine.job_bytes)
        return self._write_parts(parts_of(folder), queries)

    def _write_parts(
        self, sources: Sequence[Path], queries: Callable[[str], Queries], table: str = ""
    ) -> dict[str, list[Path]]:
        """Run one job for each range; return the parts of every file in order."""
        share = self.engine.share(len(sources))
        jobs, parts = [], dict[str, list[Path]]()
        for number, source in enumerate(sources):

            def part(name: str, number: int = number) -> str:
                path = self.scratch / "parts" / name / f"{number:06}"
                parts.setdefault(name, []).append(path)
                return str(path)

            wanted = {
                query: {column: part(name) for column, name in texts.items()}
                for query, texts in queries(read_folder(source.resolve())).items()
            }
            rows = part(table) if table else ""
            jobs.append(PieceJob(wanted, share, str(self.scratch), rows))
        self.engine.run_jobs(write_pieces, jobs, at_once=share.at_once)
        return parts


def entries_with_folders(engine: Engine, entries: Path, ids: Path, folders: Sequence[str]) -> Frame:
    """Return the entries of comments.json with a column for each folder that tells whether it has them.

    A comment and a post may share an id. The layout has room for one; the text of a reply matters more.
    """
    said, posted = (engine.scan(parquet_files(entries / name)) for name in ("said", "posted"))
    both = nw.concat([said, posted.join(said.select("id"), on="id", how="anti")], how="vertical")
    needed = engine.scan(parquet_files(ids))
    for number, folder in enumerate(folders):
        name = f"in_{number}"
        here = needed.filter(nw.col("folder") == folder).select("id").unique()
        there = here.with_columns(nw.lit(True).alias(name))
        both = both.join(there, on="id", how="left").with_columns(nw.coalesce(nw.col(name), nw.lit(False)).alias(name))
    return both


def _may_have(part: Path, month: str) -> bool:
    """Return whether a part of the rows may have some of a month, by the statistics in its footer."""
    footer = pq.read_metadata(part)
    place = RAW_COLUMNS.index("date")
    groups = [footer.row_group(number).column(place).statistics for number in range(footer.num_row_groups)]
    return any(found is None or found.min <= month <= found.max for found in groups)


def _raw_query(source: str) -> str:
    """Return sorted rows with their lines in sarc.csv and sarc.tsv."""
    columns = ", ".join(f"{_EXPRESSIONS.get(name, name)} AS {name}" for name in RAW_COLUMNS)
    # A score that no dump has is null, and an empty cell; concat_ws would leave the cell out.
    plain = {name: f"coalesce(CAST({name} AS VARCHAR), '')" for name in RAW_COLUMNS if name not in _TEXTS}
    cells = ", ".join(plain.get(name) or f"cell({name})" for name in RAW_COLUMNS)
    tabbed = ", ".join(plain.get(name, name) for name in TSV_COLUMNS)
    return f"""
    WITH chosen AS (SELECT {columns} FROM {source} ORDER BY created_utc, id)
    SELECT *, concat_ws(',', {cells} || chr(13) || chr(10)) AS csv,
      concat_ws(chr(9), {tabbed} || chr(10)) AS tsv
    FROM chosen
    """


STREAM_ROWS = 20_000

MACROS = f"""
CREATE OR REPLACE TEMP MACRO cell(x) AS
  CASE WHEN contains(x, '"') OR contains(x, ',') OR contains(x, chr(10)) OR contains(x, chr(13))
  THEN '"' || replace(x, '"', '""') || '"' ELSE x END;
CREATE OR REPLACE TEMP MACRO one_line(x) AS
  CASE WHEN regexp_matches(x, {literal(WHITE)})
  THEN trim(regexp_replace(x, {literal(WHITE + "+")}, ' ', 'g')) ELSE x END;
CREATE OR REPLACE TEMP MACRO month_text(m) AS
  CASE WHEN m = 0 THEN ''
  ELSE lpad(CAST(m // 100 AS VARCHAR), 4, '0') || '-' || lpad(CAST(m % 100 AS VARCHAR), 2, '0') END;
"""


@dataclass(frozen=True, slots=True)
class PieceJob:
    """Sorted queries with the files of their text columns, and a Parquet file for the other columns."""

    queries: Mapping[str, Mapping[str, str]]
    share: Share
    scratch: str
    table: str = ""


def write_pieces(job: PieceJob, report: Report = ignore) -> None:
    """Run the queries of a job one after the other."""
    with job_connection(job.share, job.scratch) as connection:
        connection.execute(MACROS)
        for query, texts in job.queries.items():
            _write_columns(connection.sql(query).to_arrow_reader(STREAM_ROWS), texts, job.table)
            report(0)


def _write_columns(batches: pa.RecordBatchReader, texts: Mapping[str, str], table: str) -> None:
    """Write text columns directly from their memory, and the other columns as Parquet."""
    others = [name for name in batches.schema.names if name not in texts]
    schema = pa.schema([batches.schema.field(name) for name in others])
    with ExitStack() as stack:
        paths = {column: stack.enter_context(attempt(Path(path))) for column, path in texts.items()}
        files = {column: stack.enter_context(path.open("wb")) for column, path in paths.items()}
        rows = None
        if table:
            path = stack.enter_context(attempt(Path(table)))
            rows = stack.enter_context(pq.ParquetWriter(path, schema, compression="none"))
        for batch in batches:
            for column, file in files.items():
                file.write(text_of(batch.column(column)))
            if rows:
                rows.write_batch(batch.select(others))


def text_of(column: pa.StringArray) -> memoryview:
    """Return the bytes of all strings of a column, which are contiguous."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[column.offset] : places[column.offset + len(column)]]


ROW_GROUP = 100_000
READ_ROWS = 20_000

_TYPES = {"label": pa.int8(), "date": pa.string(), **dict.fromkeys(_TEXTS, pa.string())}
_REPEATING = ["label", "author", "subreddit", "score", "ups", "downs", "date"]
RAW_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in RAW_COLUMNS])


@dataclass(frozen=True, slots=True)
class AssemblyJob:
    """The parts of a file in order, and what is before and after them.

    `facts` is a small file for the hash; `rows` is true for Parquet, and `month` chooses some of its rows.
    The first `skip` bytes of the parts are left out.
    """

    parts: tuple[str, ...]
    target: str
    facts: str
    first: str = ""
    last: str = ""
    skip: int = 0
    packed: bool = False
    rows: bool = False
    month: str = ""


def assemble_file(job: AssemblyJob, report: Report = ignore) -> None:
    """Write one file, and its size and hash."""
    with attempt(Path(job.target)) as path:
        (_write_rows if job.rows else _write_text)(job, path)
        facts = file_facts(path)
    write_json(Path(job.facts), facts)
    report(0)


def _write_text(job: AssemblyJob, path: Path) -> None:
    with bz2.open(path, "wb") if job.packed else path.open("wb") as file:
        file.write(job.first.encode())
        skip = job.skip
        for part in job.parts:
            with Path(part).open("rb") as source:
                skip -= len(source.read(skip))
                shutil.copyfileobj(source, file, 1 << 20)
        file.write(job.last.encode())


def _write_rows(job: AssemblyJob, path: Path) -> None:
    """Regroup the rows into groups of a fixed size, each in one piece: the parts depend on the machine."""
    held: list[pa.RecordBatch] = []
    count = 0
    with pq.ParquetWriter(path, RAW_SCHEMA, compression="zstd", use_dictionary=_REPEATING) as writer:
        for batch in _batches(job):
            held.append(batch)
            count += len(batch)
            while count >= ROW_GROUP:
                table = pa.Table.from_batches(held, RAW_SCHEMA)
                writer.write_table(table.slice(0, ROW_GROUP).combine_chunks(), ROW_GROUP)
                held, count = table.slice(ROW_GROUP).to_batches(), count - ROW_GROUP
        writer.write_table(pa.Table.from_batches(held, RAW_SCHEMA).combine_chunks(), ROW_GROUP)


def _batches(job: AssemblyJob) -> Iterator[pa.RecordBatch]:
    for part in job.parts:
        with pq.ParquetFile(part) as source:
            for batch in source.iter_batches(READ_ROWS):
                chosen = batch.filter(pc.equal(batch.column("date"), job.month)) if job.month else batch
                yield chosen.cast(RAW_SCHEMA)
