"""Comment trees across months: comments under sarcasm, and the sequences that lead to sarcastic replies.

Only threads with a marked comment matter, and no step crosses a thread, so threads are partitioned into
batches of bounded size. `parent_id` alone decides where a comment belongs: threads that the dumps wrongly
divide (a reply whose link_id is not its parent's) are found and merged first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Frame, Report, count_rows, ignore, parquet_files, parts_of
from deadpan.corpus.label import author_state, with_candidates
from deadpan.corpus.rows import Choose, Unit, rows_of
from deadpan.corpus.settings import Scope
from deadpan.corpus.trees import TREE_COLUMNS, ThreadsJob, process_threads
from deadpan.progress import Progress, silent
from deadpan.storage import write_json

BATCH_GROWTH = 4  # bytes that a job needs for each byte of its rows
THREADS_FORMAT = 3  # of the tables; after a change all threads are processed again
INFO = "info.json"
_KEPT = ("under", "sequences", "replies", "members", "broken")


@dataclass(frozen=True, slots=True)
class ThreadInputs:
    """Inputs of the step: units with their candidates, aware authors, and the rules."""

    units: Sequence[Unit]
    candidates: Sequence[Path]
    authors: Sequence[Path]
    scope: Scope

    @property
    def key(self) -> dict[str, Any]:
        names = {unit.key: part.name for unit, part in zip(self.units, self.candidates, strict=True)}
        return {
            "format": THREADS_FORMAT, "units": names, "drop_under": self.scope.drop_under_sarcasm,
            "siblings": self.scope.siblings,
        }  # fmt: skip


def thread_step(checkpoints: Checkpoints, engine: Engine, inputs: ThreadInputs, progress: Progress = silent) -> Path:
    """Return a folder of the comments under sarcasm, the sequences, their members and the broken chains."""
    base = _reusable(checkpoints, inputs)

    def make(folder: Path) -> None:
        _Threads(engine, inputs, folder, progress).run(base)

    return checkpoints.step("threads", inputs.key, make)


# The folder of an earlier result, and its units.
Base: TypeAlias = tuple[Path, Mapping[str, str]]


def _reusable(checkpoints: Checkpoints, inputs: ThreadInputs) -> Base | None:
    """Return the largest earlier result whose units are all unchanged: only threads in new units differ."""
    key = inputs.key
    fitting = [
        (folder, old["units"])
        for folder, old in checkpoints.finished("threads")
        if {**old, "units": {}} == {**key, "units": {}} and old["units"].items() <= key["units"].items()
    ]
    return max(fitting, key=lambda result: len(result[1]), default=None)


class _Threads:
    """One run of the step.

    It goes in rounds. The first looks at the threads with new comments. If a parent or child that matters
    turns out to have another thread, the two are merged, and the next round looks at the merged ones only.
    """

    def __init__(self, engine: Engine, inputs: ThreadInputs, folder: Path, progress: Progress) -> None:
        self.engine = engine
        self.progress = progress
        self.inputs = inputs
        self.folder = folder

    def run(self, base: Base | None) -> None:
        homes = self._old_homes(base)
        touched = self._changed(base, homes)
        rounds = 0
        while True:
            self._round(rounds, homes, touched)
            if not self._find_strays(rounds, homes):
                break
            homes = self._find_homes()
            touched = homes.select(thread="home").unique()
            rounds += 1
        self._publish(base, rounds, homes)
        reused = sorted(base[1]) if base else []
        write_json(self.folder / INFO, {"joined": homes is not None, "rounds": rounds + 1, "reused": reused})

    def _round(self, number: int, homes: Frame | None, touched: Frame | None) -> None:
        """Process the hot threads among those touched (None means all) into a folder of their own."""
        marked = self._comments(homes, lambda rows: rows.filter(nw.col("marked")).select("id", "thread"))
        if touched is not None:
            marked = marked.join(touched, on="thread", how="semi")
        hot = self._saved(marked.select("thread").unique(), f"{number}/hot")
        rows = self._comments(homes, lambda rows: rows.join(hot, on="thread", how="semi"))
        self._run_batches(rows, self.folder / str(number))

    def _publish(self, base: Base | None, last: int, homes: Frame | None) -> None:
        """Put together what is current of the earlier result and of all rounds."""
        changed = self.engine.scan(parquet_files(self.folder / "changed")) if base else None
        for name in _KEPT:
            for number in range(last + 1):
                found = self.engine.scan(parquet_files(self.folder / str(number) / name))
                if homes is not None and number < last:
                    found = found.join(homes.select("thread"), on="thread", how="anti")
                self.engine.save(found, self.folder / name / f"round-{number}")
            if base and changed is not None:
                old = self.engine.scan(parquet_files(base[0] / name)).join(changed, on="thread", how="anti")
                if homes is not None:
                    old = old.join(homes.select("thread"), on="thread", how="anti")
                self.engine.save(old, self.folder / name / "reused")
        for name in ("changed", *map(str, range(last + 1))):
            _remove(self.folder / name)

    def _old_homes(self, base: Base | None) -> Frame | None:
        """Return the merged threads of an earlier result, whose pairs this one takes over."""
        if not base or not (base[0] / "edges").is_dir():
            return None
        for number, path in enumerate(parquet_files(base[0] / "edges")):
            target = self.folder / "edges" / f"old-{number:05}.parquet"
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, target)
        return self._find_homes()

    def _comments(self, homes: Frame | None, choose: Choose) -> Frame:
        """Return some of the comments, with divided threads merged if `homes` is given."""
        return rows_of(self.engine, self.inputs.units, lambda rows: choose(self._merged(rows, homes)))

    def _changed(self, base: Base | None, homes: Frame | None) -> Frame | None:
        """Return the threads in which the new units have a comment, and all that were merged before."""
        if base is None:
            return None
        new = [unit for unit in self.inputs.units if unit.key not in base[1]]
        if not new:
            return self._saved(rows_of(self.engine, self.inputs.units).select("thread").head(0), "changed")
        touched = rows_of(self.engine, new, lambda rows: self._merged(rows, homes)).select("thread")
        if homes is not None:
            touched = nw.concat([touched, homes.select(thread="home")], how="vertical")
        return self._saved(touched.unique(), "changed")

    def _saved(self, frame: Frame, name: str) -> Frame:
        """Compute a table that is read more than once."""
        folder = self.folder / name
        _remove(folder)
        self.engine.save(frame, folder)
        return self.engine.scan(parquet_files(folder))

    def _run_batches(self, rows: Frame, target: Path) -> None:
        """Partition rows by thread into batches, and process each batch."""
        state = author_state(self.engine, self.inputs.authors)
        chosen = with_candidates(rows, state, self.inputs.scope).select(*TREE_COLUMNS)
        folder = target / "rows"
        self.engine.scatter(chosen, folder, "thread", self.engine.job_bytes // BATCH_GROWTH)
        scope = self.inputs.scope
        rules = (scope.drop_under_sarcasm, scope.siblings == "all")
        jobs = [
            ThreadsJob(str(path.resolve()), str(target.resolve()), number, *rules)
            for number, path in enumerate(parts_of(folder))
        ]
        finished = iter(range(1, len(jobs) + 1))

        def watch(number: int, done: int) -> None:
            self.progress("trees", 20 * len(jobs) + 50 * next(finished, 0), 100 * len(jobs))

        self.engine.run_jobs(process_threads, jobs, watch, self.engine.share(len(jobs)).at_once)
        _remove(folder)

    def _find_strays(self, number: int, homes: Frame | None) -> bool:
        """Save the pairs of threads that a parent or child that matters connects; return if there are any."""
        found = self.folder / str(number)
        missing = self.engine.scan(parquet_files(found / "missing")).select("id", home="thread")
        reach = self.engine.scan(parquet_files(found / "reach")).select(up="id", home="thread")

        def parents(rows: Frame) -> Frame:
            return rows.select("id", "thread").join(missing, on="id", how="inner")

        def children(rows: Frame) -> Frame:
            return rows.select("id", "up", "thread").join(reach, on="up", how="inner")

        pairs = [self._comments(homes, choose).select("thread", "home") for choose in (parents, children)]
        strays = nw.concat(pairs, how="vertical").filter(nw.col("thread") != nw.col("home")).unique()
        edges = self.folder / "edges" / str(number)
        self.engine.save(strays, edges)
        any_there = count_rows(self.engine, edges) > 0
        if not any_there:
            _remove(edges)
            if not parquet_files(self.folder / "edges"):
                _remove(self.folder / "edges")
        return any_there

    def _find_homes(self) -> Frame:
        """Return (thread, home): the first thread of the connected component that all pairs make."""
        edges = parquet_files(self.folder / "edges")
        target = self.folder / "homes" / f"{len(edges):05}.parquet"
        names = tuple(str(path.resolve()) for path in edges)
        self.engine.run_jobs(merge_threads, [MergeJob(names, str(target.resolve()))])
        return self.engine.scan([target])

    def _merged(self, comments: Frame, homes: Frame | None) -> Frame:
        """Return comments with the home of their thread, if it was merged."""
        if homes is None:
            return comments
        return comments.join(homes, on="thread", how="left").with_columns(
            thread=nw.coalesce(nw.col("home"), nw.col("thread"))
        )


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- threads that the dumps wrongly divide


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Files of pairs of threads that belong together, and the file for the result."""

    edges: tuple[str, ...]
    target: str


def merge_threads(job: MergeJob, report: Report = ignore) -> None:
    """Write every thread with the first of its connected component."""
    schema = pa.schema([("thread", pa.string()), ("home", pa.string())])
    tables = [pq.ParquetFile(source).read(columns=schema.names) for source in job.edges]
    pairs = (pair for table in tables for pair in zip(*(c.to_pylist() for c in table.columns), strict=True))
    homes = connected_components(pairs)
    Path(job.target).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table([list(homes), list(homes.values())], schema=schema), job.target)
    report(len(homes))


def connected_components(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return every node with the first node, alphabetically, of its connected component."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for one, other in edges:
        first, second = sorted((find(one), find(other)))
        root[second] = first
    return {name: find(name) for name in list(root)}
