"""One batch of threads: from rows to the comments under sarcasm and the sequences, on any worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deadpan.corpus.engines.engine import Watch, ignore
from deadpan.corpus.relate.trees import Flags, Numbers, Trees, descend, paths, trees

TREE_COLUMNS = ("thread", "id", "up", "top", "marked", "candidate", "created_utc", "month", "subreddit")

WORDS_AT_ONCE = 1 << 22  # ids joined at once: far below the 2 GB of text that an Arrow array can hold

_TEXT, _MONTH = pa.string(), pa.int32()
SCHEMAS: dict[str, pa.Schema] = {
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
"""`missing` are parents that are not in the batch, `reach` comments whose children must be in it: both serve
to check that no thread was divided."""


@dataclass(frozen=True, slots=True)
class _Sequences:
    """Tables of sequences, replies, members and broken chains, and the rows of the answered comments."""

    sequences: pa.Table
    replies: pa.Table
    members: pa.Table
    broken: pa.Table
    parents: Numbers


def job(source: Path, target: Path, number: int, drop_under: bool) -> str:
    """Return the arguments of `work` as text; paths are absolute, since a worker has its own directory."""
    return json.dumps([str(source.resolve()), str(target.resolve()), number, drop_under])


def work(job: str, watch: Watch = ignore) -> None:
    """Run one job: read its rows and write one file per result."""
    source, target, number, drop_under = json.loads(job)
    files = sorted(Path(source).glob("*.parquet"))
    # Not read_table: it imports Arrow's datasets first, which takes longer than reading.
    read = [pq.ParquetFile(file).read(columns=list(TREE_COLUMNS)) for file in files]
    for name, table in results(pa.concat_tables(read), drop_under).items():
        write(Path(target), name, number, table)
    watch(job, number)


def write(target: Path, name: str, number: int, table: pa.Table) -> None:
    """Write one file of a result."""
    folder = target / name
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{number:05}.{uuid4().hex[:8]}"  # two attempts of a job may run at once
    pq.write_table(table, temporary, compression="snappy")
    temporary.replace(folder / f"{number:05}.parquet")


def results(table: pa.Table, drop_under: bool) -> dict[str, pa.Table]:
    """Return all result tables of some whole threads."""
    table = table.combine_chunks()
    up = table["up"]
    parents = _parents(table)
    forest = trees(parents, pc.is_valid(table["top"]).to_numpy())
    marked = pc.fill_null(table["marked"], False).to_numpy()
    below, whole = descend(forest, marked)
    candidate = table["candidate"].to_numpy()
    under = candidate & below if drop_under else np.zeros(len(below), dtype=bool)
    result = _sequences(table, forest, whole, marked, candidate & ~under)
    orphans = table.select(["up", "thread"]).filter(pa.array((parents < 0) & pc.is_valid(up).to_numpy()))
    missing = orphans.group_by(["up", "thread"]).aggregate([]).select(["up", "thread"])
    reach = np.union1d(np.flatnonzero(marked | below), result.parents)
    return {
        "under": table.select(["thread", "id", "month"]).filter(pa.array(under)).cast(SCHEMAS["under"]),
        "sequences": result.sequences,
        "replies": result.replies,
        "members": result.members,
        "broken": result.broken,
        "missing": missing.rename_columns(["id", "thread"]).cast(SCHEMAS["missing"]),
        "reach": table.select(["id", "thread"]).take(reach).cast(SCHEMAS["reach"]),
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
    return pa.table(list(columns), schema=SCHEMAS[name])


def _sequences(table: pa.Table, forest: Trees, whole: Flags, marked: Flags, kept: Flags) -> _Sequences:
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
        _members(table.take(np.union1d(path, replies)), heads, post),
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
    numbers = (
        pc.fill_null(outside.combine_chunks().dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    )
    return np.where(forest.parents < n, forest.parents, np.where(numbers >= 0, n + numbers, -1))
