"""The index files of main and the subsets, train-balanced.csv and its siblings, drawn by jobs on any worker.

Each job has whole threads. Its lines are sorted and written to their files later, by `Outputs`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import attempt
from deadpan.corpus.engines.duckdb import connect
from deadpan.corpus.engines.engine import Engine, Frame, Watch, ignore
from deadpan.corpus.publish.benchmark import BenchmarkReply, PairChoice, Thread, choose
from deadpan.corpus.publish.pieces import STREAM_ROWS
from deadpan.corpus.publish.similarity import WordSums
from deadpan.corpus.publish.statistics import mean_share
from deadpan.corpus.settings import BenchmarkRules, CorpusSettings
from deadpan.corpus.sql import parts_of, read_folder
from deadpan.formats.sarc import format_index_line
from deadpan.storage import read_json, write_json
from deadpan.validation import decode, encode

INDEXES = ("train-balanced", "train-unbalanced", "test-balanced", "test-unbalanced")
SEQUENCES = "raw/sequences.csv"
LINES_AT_ONCE = 20_000
_LINES = pa.schema([(name, pa.string()) for name in ("post", "last", "file", "line")])
_IDS = pa.schema([("folder", pa.string()), ("id", pa.string())])


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Folders of the lines and of the ids in them, sizes by folder and index, and drops by reason."""

    lines: Path
    ids: Path
    folders: tuple[str, ...]
    sizes: dict[str, dict[str, Any]]
    drops: Counter[str]

    @property
    def files(self) -> list[str]:
        """Names of all files of lines."""
        return [SEQUENCES, *(f"{folder}/{index}.csv" for folder in self.folders for index in INDEXES)]


@dataclass(frozen=True, slots=True)
class DrawJob:
    """Arguments of `work`: a folder of replies, where to write, the rules and the seed."""

    source: str
    target: str
    number: int
    rules: dict[str, Any]
    seed: int
    memory: str
    threads: int
    scratch: str


def draw_benchmarks(engine: Engine, settings: CorpusSettings, replies: Frame, scratch: Path) -> Benchmarks:
    """Draw the benchmarks of all sequences; `replies` is the result of `RawRows.replies`."""
    scratch = scratch.resolve()
    engine.scatter(replies, scratch / "replies", "post", engine.job_bytes)
    target, sources = scratch / "drawn", parts_of(scratch / "replies")
    share = engine.share(len(sources))
    jobs = [
        DrawJob(
            str(source), str(target), number, encode(settings.benchmark), settings.seed, share.memory,
            share.threads, str(scratch),
        )
        for number, source in enumerate(sources)
    ]  # fmt: skip
    engine.run_jobs(work, [json.dumps(asdict(job)) for job in jobs], at_once=share.at_once)
    counts, drops = Counter[tuple[str, str, int, int]](), Counter[str]()
    for path in sorted((target / "counts").glob("*.json")):
        found = read_json(path)
        drops.update(found["drops"])
        counts.update({tuple(cell): times for *cell, times in found["counts"]})
    folders = ("main", *sorted(settings.benchmark.subsets))
    return Benchmarks(target / "lines", target / "ids", folders, _sizes(folders, counts), +drops)


def _sizes(folders: Sequence[str], counts: Counter[tuple[str, str, int, int]]) -> dict[str, dict[str, Any]]:
    """Return sequences, replies, sarcastic replies and their mean share, for each index."""
    sizes: dict[str, dict[str, Any]] = {folder: {} for folder in folders}
    for folder in folders:
        for index in INDEXES:
            cells = [(s, n, t) for (f, i, s, n), t in sorted(counts.items()) if (f, i) == (folder, index)]
            sarcastic = sum(s * times for s, _, times in cells)
            sizes[folder][index] = {**mean_share(cells), "sarcastic": sarcastic}
    return sizes


def work(job: str, watch: Watch = ignore) -> None:
    """Draw the benchmarks of some whole threads; a file of word vectors needs a first pass for the words."""
    task = DrawJob(**json.loads(job))
    rules = decode(task.rules, BenchmarkRules)
    drops: Counter[str] = Counter()
    source = read_folder(Path(task.source))
    with closing(connect(task.memory, Path(task.scratch), task.threads)) as connection:
        connection.execute("SET preserve_insertion_order = false")
        words = (row["text"] for row in _rows(connection, f"SELECT text FROM {source} WHERE place > 0"))
        similarity = WordSums(rules.vectors, words)
        with _Drawn(Path(task.target), task.number, rules) as drawn:
            threads = drawn.with_lines(_threads(connection, source))
            for choice in choose(threads, rules, task.seed, similarity, drops):
                drawn.write(choice)
                watch(job, 0)
    listed = [[*cell, times] for cell, times in sorted(drawn.counts.items())]
    write_json(Path(task.target) / "counts" / f"{task.number:05}.json", {"drops": drops, "counts": listed})


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, Any]]:
    """Yield the result of a query row by row; a cursor of its own lets another query run meanwhile."""
    with closing(connection.cursor()) as cursor:
        for batch in cursor.sql(query).to_arrow_reader(STREAM_ROWS):
            yield from batch.to_pylist()


def _threads(connection: duckdb.DuckDBPyConnection, source: str) -> Iterator[Thread]:
    """Yield sequences sorted by (post, last ancestor), each with its replies in order."""
    rows = _rows(connection, f"FROM {source} ORDER BY post, last, place")
    for _, group in groupby(rows, key=lambda row: (row["post"], row["last"])):
        head, *found = group
        yield Thread(
            head["post"], head["last"], head["text"], head["id"],
            tuple(BenchmarkReply(row["id"], row["label"], row["text"]) for row in found),
        )  # fmt: skip


class _Drawn:
    """Tables of the lines and ids of one job, while they are written."""

    def __init__(self, target: Path, number: int, rules: BenchmarkRules) -> None:
        self.paths = {name: target / name / f"{number:05}.parquet" for name in ("lines", "ids")}
        subsets = {name: {one.lower() for one in found} for name, found in rules.subsets.items()}
        self.folders: dict[str, set[str] | None] = {"main": None, **subsets}
        self.counts: Counter[tuple[str, str, int, int]] = Counter()
        self.lines: list[tuple[str, str, str, str]] = []
        self.ids: list[tuple[str, str]] = []

    def __enter__(self) -> _Drawn:
        self.stack = ExitStack()
        temporary = {name: self.stack.enter_context(attempt(path)) for name, path in self.paths.items()}
        self.writers = {
            name: self.stack.enter_context(pq.ParquetWriter(temporary[name], schema))
            for name, schema in (("lines", _LINES), ("ids", _IDS))
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        if failure is None:
            self._flush()
        self.stack.__exit__(kind, failure, trace)  # after a failure the files do not get their names

    def with_lines(self, threads: Iterator[Thread]) -> Iterator[Thread]:
        """Yield sequences, and write each as a line of raw/sequences.csv."""
        for thread in threads:
            self._add(SEQUENCES, thread, thread.replies)
            yield thread

    def write(self, choice: PairChoice) -> None:
        """Write a sequence and its pair to every folder that its subreddit belongs to."""
        side = "test" if choice.test else "train"
        thread = choice.thread
        for folder, subreddits in self.folders.items():
            if subreddits is not None and thread.subreddit.lower() not in subreddits:
                continue
            self._count(folder, f"{side}-unbalanced", thread, choice.replies)
            if choice.pair:
                self._count(folder, f"{side}-balanced", thread, choice.pair)
            ids = [*thread.ancestors.split(" "), *(reply.id for reply in choice.replies)]
            self.ids += [(folder, id) for id in ids]
        if len(self.lines) + len(self.ids) > LINES_AT_ONCE:
            self._flush()

    def _count(self, folder: str, index: str, thread: Thread, replies: Sequence[BenchmarkReply]) -> None:
        self._add(f"{folder}/{index}.csv", thread, replies)
        self.counts[folder, index, sum(reply.label for reply in replies), len(replies)] += 1

    def _add(self, file: str, thread: Thread, replies: Sequence[BenchmarkReply]) -> None:
        labels = [reply.label for reply in replies]
        line = format_index_line(thread.ancestors.split(" "), [reply.id for reply in replies], labels)
        self.lines.append((thread.post, thread.last, file, line))

    def _flush(self) -> None:
        for name, schema, rows in (("lines", _LINES, self.lines), ("ids", _IDS, self.ids)):
            columns = [pa.array([row[at] for row in rows], pa.string()) for at in range(len(schema))]
            self.writers[name].write_table(pa.table(columns, schema=schema))
            rows.clear()
