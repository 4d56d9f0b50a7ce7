"""One batch of threads, on any worker: from rows to the comments under sarcasm and the sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from deadpan.corpus.checkpoints import attempt
from deadpan.corpus.engines.engine import Report, ignore

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
