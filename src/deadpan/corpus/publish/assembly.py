"""Jobs that put the parts of a released file together, on any worker, and hash it."""

from __future__ import annotations

import bz2
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import attempt, flush
from deadpan.corpus.engines.engine import Watch, ignore
from deadpan.formats.sarc import RAW_COLUMNS
from deadpan.storage import digest, write_json

ROW_GROUP = 100_000
READ_ROWS = 20_000
BLOCK = 1 << 20

_TEXTS = {"comment", "author", "subreddit", "parent_comment", "id", "parent_id", "link_id"}
_TYPES = {"label": pa.int8(), "date": pa.string(), **dict.fromkeys(_TEXTS, pa.string())}
_REPEATING = ["label", "author", "subreddit", "score", "ups", "downs", "date"]
RAW_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in RAW_COLUMNS])


@dataclass(frozen=True, slots=True)
class AssemblyJob:
    """Arguments of `work`: the parts of a file in order, and what is before and after them.

    `facts` is a small file for the hash; `rows` is true for Parquet, and `month` chooses some of its rows.
    The first `skip` bytes of the parts are left out.
    """

    parts: Sequence[str]
    target: str
    facts: str
    first: str = ""
    last: str = ""
    skip: int = 0
    packed: bool = False
    rows: bool = False
    month: str = ""

    def text(self) -> str:
        return json.dumps(asdict(self), default=list)


def work(job: str, watch: Watch = ignore) -> None:
    """Write one file, and its size and hash."""
    task = AssemblyJob(**json.loads(job))
    with attempt(Path(task.target)) as path:
        (_write_rows if task.rows else _write_text)(task, path)
        flush(path)
        facts = {"bytes": path.stat().st_size, "sha256": digest(path)}
    write_json(Path(task.facts), facts)
    watch(job, 0)


def _write_text(task: AssemblyJob, path: Path) -> None:
    with bz2.open(path, "wb") if task.packed else path.open("wb") as file:
        file.write(task.first.encode())
        skip = task.skip
        for part in task.parts:
            with Path(part).open("rb") as source:
                skip -= len(source.read(skip))
                shutil.copyfileobj(source, file, BLOCK)
        file.write(task.last.encode())


def _write_rows(task: AssemblyJob, path: Path) -> None:
    """Regroup the rows into groups of a fixed size, each in one piece: the parts depend on the machine."""
    held: list[pa.RecordBatch] = []
    count = 0
    with pq.ParquetWriter(path, RAW_SCHEMA, compression="zstd", use_dictionary=_REPEATING) as writer:
        for batch in _batches(task):
            held.append(batch)
            count += len(batch)
            while count >= ROW_GROUP:
                table = pa.Table.from_batches(held, RAW_SCHEMA)
                writer.write_table(table.slice(0, ROW_GROUP).combine_chunks(), ROW_GROUP)
                held, count = table.slice(ROW_GROUP).to_batches(), count - ROW_GROUP
        writer.write_table(pa.Table.from_batches(held, RAW_SCHEMA).combine_chunks(), ROW_GROUP)


def _batches(task: AssemblyJob) -> Iterator[pa.RecordBatch]:
    for part in task.parts:
        with pq.ParquetFile(part) as source:
            for batch in source.iter_batches(READ_ROWS):
                chosen = batch.filter(pc.equal(batch.column("date"), task.month)) if task.month else batch
                yield chosen.cast(RAW_SCHEMA)
