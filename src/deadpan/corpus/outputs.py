"""The files people get, in the released layout, each written as one ordered stream."""

from __future__ import annotations

import bz2
import hashlib
import io
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.engine import files_of
from deadpan.corpus.rules import WHITE, literal
from deadpan.corpus.workshop import flush

if TYPE_CHECKING:
    from typing_extensions import Buffer

STREAM_ROWS = 50_000
ROW_GROUP = 100_000

RAW_COLUMNS = (
    "label", "comment", "author", "subreddit", "score", "ups", "downs", "date", "created_utc",
    "parent_comment", "id", "parent_id", "link_id",
)  # fmt: skip
TSV_COLUMNS = RAW_COLUMNS[:10]
_TEXTS = {"comment", "author", "subreddit", "parent_comment", "id", "parent_id", "link_id"}
_TYPES = {"label": pa.int8(), "date": pa.string(), **dict.fromkeys(_TEXTS, pa.string())}
_REPEATING = ["label", "author", "subreddit", "score", "ups", "downs", "date"]
RAW_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in RAW_COLUMNS])

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


class Outputs:
    """Writes into a folder that is put in place when everything in it is finished."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, packed: bool) -> None:
        self.connection = connection
        self.folder = folder
        self.packed = packed
        self.hashes: dict[Path, str] = {}
        self.interrupted = threading.Event()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own, since a stream that is being read blocks the one it is on."""
        cursor = self.connection.cursor()
        cursor.execute(MACROS)
        return cursor

    def interrupt(self) -> None:
        """Let whatever is being written end with its next rows."""
        self.interrupted.set()

    def raw(self, rows: str) -> Path:
        """raw/sarc.parquet, .csv and .tsv, by (created_utc, id), from one sorted stream of a query's rows."""
        chosen = (
            "SELECT CAST(marked AS TINYINT) AS label, comment, one_line(author) AS author,"
            " one_line(subreddit) AS subreddit, score, ups, downs, month_text(month) AS date, created_utc,"
            f" parent_comment, id, parent_id, link_id FROM ({rows}) ORDER BY created_utc, id"
        )
        cells = ", ".join(f"cell({name})" if name in _TEXTS else name for name in RAW_COLUMNS)
        query = (
            f"SELECT *, concat_ws(',', {cells} || chr(13) || chr(10)) AS csv,"
            f" concat_ws(chr(9), {', '.join(TSV_COLUMNS)} || chr(10)) AS tsv FROM ({chosen})"
        )
        with (
            self.open(Path("raw", "sarc.parquet"), plain=True) as parquet,
            pq.ParquetWriter(parquet, RAW_SCHEMA, compression="zstd", use_dictionary=_REPEATING) as writer,
            ThreadPoolExecutor(1) as aside,
        ):
            packing: Future[None] | None = None
            for table in _regrouped(self._written(query)):
                if packing:
                    packing.result()  # one at a time, so that memory is bounded
                packing = aside.submit(writer.write_table, table, ROW_GROUP)
            if packing:
                packing.result()
        return self.folder / "raw" / "sarc.parquet"

    def _written(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query, once their lines are in raw/sarc.csv and .tsv."""
        with (
            self.open(Path("raw", "sarc.csv")) as csv,
            self.open(Path("raw", "sarc.tsv")) as tsv,
        ):
            csv.write((",".join(RAW_COLUMNS) + "\r\n").encode())
            for batch in self.batches(query):
                csv.write(_text_of(batch.column("csv")))
                tsv.write(_text_of(batch.column("tsv")))
                yield batch.select(list(RAW_COLUMNS)).cast(RAW_SCHEMA)

    def sequences(self, threads: Path) -> None:
        """raw/sequences.csv, by (post, last ancestor)."""
        self.lines(
            Path("raw", "sequences.csv"),
            "SELECT ancestors || '|' || responses || '|' || labels || chr(10) AS line"
            f" FROM {files_of(threads / 'sequences')} ORDER BY post, last",
        )

    def comments(self, folder: str, entries: Path, needed: str = "") -> None:
        """FOLDER/comments.json: one entry a line, by id; `needed` is SQL for a table of ids, or all."""
        chosen = f"WHERE id IN (SELECT id FROM {needed})" if needed else ""
        # A comment and a post may share an id; the layout has room for one, and a reply's words matter more.
        both = (
            f"SELECT *, 0 AS place FROM {files_of(entries / 'said')} UNION ALL BY NAME"
            f" SELECT *, 1 AS place FROM {files_of(entries / 'posted')} WHERE id NOT IN"
            f" (SELECT id FROM {files_of(entries / 'said')})"
        )
        entry = (
            "to_json(struct_pack(text := text, author := one_line(author), score := score, ups := ups,"
            " downs := downs, date := month_text(month), created_utc := created_utc,"
            " subreddit := one_line(subreddit)))"
        )
        self.lines(
            Path(folder, "comments.json"),
            f"SELECT ',' || chr(10) || to_json(id) || ': ' || {entry} AS line FROM ({both}) {chosen}"
            " ORDER BY id",
            first="{",
            last="\n}\n",
            skip=1,  # the comma before the first entry
        )

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The result of a query as a stream."""
        cursor = self.cursor()
        try:
            for batch in cursor.sql(query).to_arrow_reader(STREAM_ROWS):
                if self.interrupted.is_set():
                    raise InterruptedError("the build was stopped")
                yield batch
        finally:
            cursor.close()

    def lines(self, name: Path, query: str, first: str = "", last: str = "", skip: int = 0) -> None:
        """A text file of a query's column `line`. The column's own memory is written, without a detour."""
        with self.open(name) as file:
            file.write(first.encode())
            for batch in self.batches(query):
                text = _text_of(batch.column(0))
                file.write(text[skip:])
                skip -= min(skip, len(text))
            file.write(last.encode())

    @contextmanager
    def open(self, name: Path, plain: bool = False) -> Iterator[IO[bytes]]:
        """A file of the output: packed if asked for, hashed while it is written, on the disk when closed."""
        packed = self.packed and not plain
        path = self.folder / (name.with_name(f"{name.name}.bz2") if packed else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            raw = stack.enter_context(_Hashed(path))
            file = cast("IO[bytes]", stack.enter_context(io.BufferedWriter(raw)))
            yield cast("IO[bytes]", stack.enter_context(bz2.open(file, "wb"))) if packed else file
        flush(path)
        self.hashes[path] = raw.hash.hexdigest()


class _Hashed(io.FileIO):
    """A file that is hashed as it is written: later it would have to be read again, when cores are idle."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "wb")
        self.hash = hashlib.sha256()

    def write(self, data: Buffer, /) -> int:
        size = super().write(data)
        self.hash.update(memoryview(data)[:size])
        return size


def _text_of(column: pa.StringArray) -> memoryview:
    """The bytes of all strings of a column, which lie one after the other."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[column.offset] : places[column.offset + len(column)]]


def _regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Row groups of a fixed size: how batches come is the machine's affair, the bytes are not."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += len(batch)
        if count >= ROW_GROUP:
            table = pa.Table.from_batches(held, RAW_SCHEMA)
            yield table.slice(0, ROW_GROUP)
            rest: Sequence[pa.RecordBatch] = table.slice(ROW_GROUP).to_batches()
            held, count = list(rest), count - ROW_GROUP
    yield pa.Table.from_batches(held, RAW_SCHEMA)
