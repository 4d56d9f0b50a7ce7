"""Jobs that sort one range of a table and write its lines, on any worker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import attempt
from deadpan.corpus.engines.duckdb import connect
from deadpan.corpus.engines.engine import Watch, ignore
from deadpan.corpus.ingest.rules import WHITE
from deadpan.corpus.sql import literal

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
    """Arguments of `work`: sorted queries, the files of their text columns, and one for the other columns."""

    queries: Mapping[str, Mapping[str, str]]
    memory: str
    threads: int
    scratch: str
    table: str = ""

    def text(self) -> str:
        return json.dumps(asdict(self))


def work(job: str, watch: Watch = ignore) -> None:
    """Run the queries of a job one after the other."""
    task = PieceJob(**json.loads(job))
    Path(task.scratch).mkdir(parents=True, exist_ok=True)
    with closing(connect(task.memory, Path(task.scratch), task.threads)) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(MACROS)
        for query, texts in task.queries.items():
            _write(connection.sql(query).to_arrow_reader(STREAM_ROWS), texts, task.table)
            watch(job, 0)


def _write(batches: pa.RecordBatchReader, texts: Mapping[str, str], table: str) -> None:
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
