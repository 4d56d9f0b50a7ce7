"""Comment trees across months: comments under sarcasm, and the sequences that lead to sarcastic replies.

Only threads with a marked comment matter, and no step crosses a thread, so threads are partitioned into
batches of bounded size. `parent_id` alone decides where a comment belongs: threads that the dumps wrongly
divide (a reply whose link_id is not its parent's) are found and merged first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from deadpan.corpus.checkpoints import Checkpoints, attempt
from deadpan.corpus.engines.engine import Engine, Frame, Report, count_rows, ignore, parquet_files, parts_of
from deadpan.corpus.label import author_state, with_candidates
from deadpan.corpus.rows import Choose, Unit, rows_of
from deadpan.corpus.settings import Scope
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


# ---------------------------------------------------------------- one batch of threads, on any worker

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

TREE_COLUMNS = ("thread", "id", "up", "top", "marked", "candidate", "created_utc", "month", "subreddit")

WORDS_AT_ONCE = 1 << 22  # ids joined at once: far below the 2 GB of text that an Arrow array can hold

_TEXT, _MONTH = pa.string(), pa.int32()
# `missing` are parents that are not in the batch, `reach` comments whose children must be in it: both serve
# to check that no thread was divided.
THREAD_SCHEMAS: dict[str, pa.Schema] = {
    "under": pa.schema([("thread", _TEXT), ("id", _TEXT), ("month", _MONTH)]),
    "sequences": pa.schema(
        [("thread", _TEXT), ("post", _TEXT), ("last", _TEXT), ("ancestors", _TEXT), ("responses", _TEXT),
         ("labels", _TEXT), ("subreddit", _TEXT)]
    ),
    "replies": pa.schema(
        [("thread", _TEXT), ("post", _TEXT), ("last", _TEXT), ("id", _TEXT), ("label", pa.bool_()),
         ("place", pa.int32())]
    ),
    "members": pa.schema([("thread", _TEXT), ("id", _TEXT), ("is_post", pa.bool_()), ("subreddit", _TEXT)]),
    "broken": pa.schema([("thread", _TEXT), ("last", _TEXT), ("month", _MONTH)]),
    "missing": pa.schema([("id", _TEXT), ("thread", _TEXT)]),
    "reach": pa.schema([("id", _TEXT), ("thread", _TEXT)]),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sequences:
    """Tables of sequences, replies, members and broken chains, and the rows of the answered comments."""

    sequences: pa.Table
    replies: pa.Table
    members: pa.Table
    broken: pa.Table
    parents: Numbers


@dataclass(frozen=True, slots=True)
class ThreadsJob:
    """A folder of rows, where to write the results, the number of their files, and a rule of the corpus."""

    source: str
    target: str
    number: int
    drop_under: bool
    all_siblings: bool = False


def process_threads(job: ThreadsJob, report: Report = ignore) -> None:
    """Read the rows of some whole threads and write one file per result."""
    files = sorted(Path(job.source).glob("*.parquet"))
    # Not read_table: it imports Arrow's datasets first, which takes longer than reading.
    read = [pq.ParquetFile(file).read(columns=list(TREE_COLUMNS)) for file in files]
    for name, table in thread_tables(pa.concat_tables(read), job.drop_under, job.all_siblings).items():
        with attempt(Path(job.target) / name / f"{job.number:05}.parquet") as path:
            pq.write_table(table, path, compression="snappy")
    report(1)


def thread_tables(table: pa.Table, drop_under: bool, all_siblings: bool = False) -> dict[str, pa.Table]:
    """Return all result tables of some whole threads; members include all siblings of sarcastic replies if asked."""
    table = table.combine_chunks()
    up = table["up"]
    parents = _parents(table)
    forest = trees(parents, pc.is_valid(table["top"]).to_numpy())
    marked = pc.fill_null(table["marked"], False).to_numpy()
    below, whole = descend(forest, marked)
    candidate = table["candidate"].to_numpy()
    under = candidate & below if drop_under else np.zeros(len(below), dtype=bool)
    result = _sequences(table, forest, whole, marked, candidate & ~under, all_siblings)
    orphans = table.select(["up", "thread"]).filter(pa.array((parents < 0) & pc.is_valid(up).to_numpy()))
    missing = orphans.group_by(["up", "thread"]).aggregate([]).select(["up", "thread"])
    reach = np.union1d(np.flatnonzero(marked | below), result.parents)
    return {
        "under": table.select(["thread", "id", "month"]).filter(pa.array(under)).cast(THREAD_SCHEMAS["under"]),
        "sequences": result.sequences,
        "replies": result.replies,
        "members": result.members,
        "broken": result.broken,
        "missing": missing.rename_columns(["id", "thread"]).cast(THREAD_SCHEMAS["missing"]),
        "reach": table.select(["id", "thread"]).take(reach).cast(THREAD_SCHEMAS["reach"]),
    }


def _parents(table: pa.Table) -> Numbers:
    """Return the row of each comment's parent, -1 if its thread does not have it.

    A parent in another thread counts as missing even if it is in this batch: only then are the two threads
    merged, whatever else the batch has.
    """
    found = pc.index_in(table["up"], value_set=table["id"].combine_chunks())
    parents: Numbers = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    threads = table["thread"].combine_chunks().dictionary_encode().indices.to_numpy()
    parents[threads[parents] != threads] = -1
    return parents


def _table(name: str, columns: Sequence[object]) -> pa.Table:
    return pa.table(list(columns), schema=THREAD_SCHEMAS[name])


def _sequences(
    table: pa.Table, forest: Trees, whole: Flags, marked: Flags, kept: Flags, all_siblings: bool
) -> _Sequences:
    """Find, for each comment or post with a kept sarcastic reply, the path to it and all its kept replies."""
    codes = _parent_codes(table, forest)
    wanted = np.unique(codes[kept & marked & (codes >= 0)])
    replies = _ordered(table, codes, np.flatnonzero(kept & np.isin(codes, wanted)))
    starts = np.flatnonzero(np.diff(codes[replies], prepend=-1))
    sizes = np.diff(starts, append=len(replies))
    first = replies[starts]
    parents = forest.parents[first]
    answered = parents < forest.post
    answered[answered] = whole[parents[answered]]
    sound = answered | (parents == forest.post)
    lost = table.take(first[~sound])
    replies = replies[np.repeat(sound, sizes)]
    first, parents, answered = first[sound], parents[sound], answered[sound]
    beside = np.flatnonzero(np.isin(codes, codes[first])) if all_siblings else replies
    path, lengths = _paths(forest, parents, answered)
    top = first.copy()  # the row that names the post
    top[answered] = path[(np.cumsum(lengths) - lengths)[answered]]
    ids, post, heads = table["id"], table["top"].take(top), table.take(first)
    last = pc.if_else(answered, ids.take(np.where(answered, parents, 0)), post)
    trail = pc.binary_join_element_wise(post, _joined(ids.take(path), lengths), " ")
    labels = pa.chunked_array([pc.if_else(marked[replies], "1", "0")])
    sizes = sizes[sound]
    sequences = [
        heads["thread"], post, last, pc.if_else(answered, trail, post),
        _joined(ids.take(replies), sizes), _joined(labels, sizes), heads["subreddit"],
    ]  # fmt: skip
    owner = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(1, len(replies) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    each = [column.take(owner) for column in (heads["thread"], post, last)]
    return _Sequences(
        _table("sequences", sequences),
        _table("replies", [*each, ids.take(replies), marked[replies], place.astype(np.int32)]),
        _members(table.take(np.union1d(path, beside)), heads, post),
        _table("broken", [lost["thread"], lost["up"], lost["month"]]),
        parents[answered],
    )


def _paths(forest: Trees, parents: Numbers, answered: Flags) -> tuple[Numbers, Numbers]:
    """Return the rows from below the post to each parent, concatenated, and the length of each path: 0 where
    the post itself is answered."""
    path, begins = paths(forest, parents[answered])
    lengths = np.zeros(len(parents), dtype=np.int64)
    lengths[answered] = np.diff(begins)
    return path, lengths


def _ordered(table: pa.Table, codes: Numbers, rows: Numbers) -> Numbers:
    """Sort rows by what they answer, then by time and id."""
    keys = table.select(["created_utc", "id"]).take(rows).append_column("code", pa.array(codes[rows]))
    order = pc.sort_indices(keys, sort_keys=[(key, "ascending") for key in ("code", "created_utc", "id")])
    ordered: Numbers = rows[order.to_numpy()]
    return ordered


def _joined(words: pa.ChunkedArray, sizes: Numbers) -> pa.ChunkedArray:
    """Join consecutive words with spaces, `sizes` at a time; in chunks, since one Arrow array holds 2 GB."""
    begins = np.append(0, np.cumsum(sizes))
    cuts = np.searchsorted(begins, np.arange(WORDS_AT_ONCE, begins[-1], WORDS_AT_ONCE))
    pieces = []
    for first, last in pairwise(np.unique([0, *cuts, len(sizes)])):
        places = (begins[first : last + 1] - begins[first]).astype(np.int32)
        some = words.slice(begins[first], places[-1]).combine_chunks()
        pieces.append(pc.binary_join(pa.ListArray.from_arrays(places, some), " "))
    return pa.chunked_array(pieces, pa.string())


def _members(comments: pa.Table, heads: pa.Table, post: pa.ChunkedArray) -> pa.Table:
    """Return the comments and posts of the sequences; a post with several subreddits gets the first."""
    posts = pa.table([heads["thread"], post, heads["subreddit"]], names=["thread", "id", "subreddit"])
    posts = posts.group_by(["thread", "id"]).aggregate([("subreddit", "min")])
    said = [comments["thread"], comments["id"], _repeated(False, comments), _repeated("", comments)]
    posted = [posts["thread"], posts["id"], _repeated(True, posts), posts["subreddit_min"]]
    return pa.concat_tables([_table("members", said), _table("members", posted)])


def _repeated(value: object, table: pa.Table) -> pa.Array:
    return pa.repeat(value, len(table))


def _parent_codes(table: pa.Table, forest: Trees) -> Numbers:
    """Return a number for what each row answers: a row of the table, a post, or a missing comment."""
    n = forest.post
    outside = pc.coalesce(
        pc.binary_join_element_wise("3", table["top"], ""), pc.binary_join_element_wise("1", table["up"], "")
    )
    numbers = pc.fill_null(outside.combine_chunks().dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    return np.where(forest.parents < n, forest.parents, np.where(numbers >= 0, n + numbers, -1))


# ---------------------------------------------------------------- trees as arrays
# Any number of threads at once, in time linear in the comments times the logarithm of the longest chain: a
# chain of 10,000 replies takes 14 rounds. A cycle of parents ends too.


@dataclass(frozen=True, slots=True)
class Trees:
    """Parents as row numbers; `post` and `nowhere` stand for a parent that is the post, or is missing."""

    parents: Numbers
    post: int
    nowhere: int


def trees(parents: Numbers, is_top: Flags) -> Trees:
    """Make trees from the row numbers of parent comments (-1 if absent) and whether the parent is a post."""
    n = len(parents)
    linked = np.where(parents >= 0, parents, np.where(is_top, n, n + 1))
    return Trees(linked.astype(np.int64), n, n + 1)


def descend(forest: Trees, marked: Flags) -> tuple[Flags, Flags]:
    """Return whether each row has a marked ancestor, and whether it has a whole chain to its post.

    Pointer doubling: after round k a row knows its next 2^k ancestors. A row in a cycle is its own ancestor;
    if it has not arrived after enough rounds to cover every row, its chain is broken.
    """
    n = forest.post
    jump = np.append(forest.parents, [forest.post, forest.nowhere])
    below = np.append(marked, [False, False])[jump]
    moving = np.flatnonzero(jump[:n] < n)
    covered = 1
    while len(moving) and covered <= n:
        ahead = jump[moving]
        below[moving] |= below[ahead]
        jump[moving] = jump[ahead]
        moving = moving[jump[moving] < n]
        covered *= 2
    return below[:n], jump[:n] == forest.post


def paths(forest: Trees, rows: Numbers) -> tuple[Numbers, Numbers]:
    """Return, for rows with a whole chain, the paths from below the post to each row, concatenated, and the
    offsets at which they begin (and the last one ends)."""
    steps, owners = [rows[:0]], [rows[:0]]
    here, owner = rows, np.arange(len(rows))
    while len(here):
        steps.append(here)
        owners.append(owner)
        above = forest.parents[here]
        here, owner = above[above < forest.post], owner[above < forest.post]
    owned = np.concatenate(owners[::-1])  # the highest first
    order = np.argsort(owned, kind="stable")
    begins = np.append(0, np.cumsum(np.bincount(owned, minlength=len(rows))))
    return np.concatenate(steps[::-1])[order], begins
