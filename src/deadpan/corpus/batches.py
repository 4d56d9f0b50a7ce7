"""One batch of threads: rows in, what is under sarcasm and the sequences out, wherever the engine runs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deadpan.corpus.trees import Flags, Numbers, Trees, descend, paths, trees

TREE_COLUMNS = ("thread", "id", "up", "top", "marked", "candidate", "created_utc", "month", "subreddit")

WORDS_AT_ONCE = 1 << 22  # ids that are joined together: far below the 2 GB of text Arrow can hold

_TEXT, _MONTH = pa.string(), pa.int32()
SCHEMAS: dict[str, pa.Schema] = {
    "under": pa.schema([("thread", _TEXT), ("id", _TEXT), ("month", _MONTH)]),
    "sequences": pa.schema(
        [("thread", _TEXT), ("post", _TEXT), ("last", _TEXT), ("ancestors", _TEXT), ("responses", _TEXT),
         ("labels", _TEXT), ("subreddit", _TEXT)]
    ),
    "members": pa.schema([("thread", _TEXT), ("id", _TEXT), ("is_post", pa.bool_()), ("subreddit", _TEXT)]),
    "broken": pa.schema([("thread", _TEXT), ("last", _TEXT), ("month", _MONTH)]),
    "missing": pa.schema([("id", _TEXT)]),
    "reach": pa.schema([("id", _TEXT), ("thread", _TEXT)]),
}  # fmt: skip
"""`missing` are parents that are not in the batch, `reach` comments whose children must be in it: with both
it can be checked that no thread was cut apart."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Tables of sequences, what they are made of, and what is broken; and the comments that are answered."""

    sequences: pa.Table
    members: pa.Table
    broken: pa.Table
    parents: Numbers


def job(source: Path, target: Path, number: int, drop_under: bool) -> str:
    """What `work` needs to know, as text that any engine can send anywhere."""
    return json.dumps([str(source), str(target), number, drop_under])


def work(described: str) -> None:
    """Do one job: read its rows, write one file of each result."""
    source, target, number, drop_under = json.loads(described)
    files = sorted(Path(source).glob("*.parquet"))
    # Not read_table: that loads all of Arrow's datasets first, which takes longer than the reading.
    read = [pq.ParquetFile(file).read(columns=list(TREE_COLUMNS)) for file in files]
    for name, table in results(pa.concat_tables(read), drop_under).items():
        write(Path(target), name, number, table)


def write(target: Path, name: str, number: int, table: pa.Table) -> None:
    """One file of a result."""
    folder = target / name
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{number:05}.parquet", compression="snappy")


def results(table: pa.Table, drop_under: bool) -> dict[str, pa.Table]:
    """Everything there is to know about some whole threads."""
    table = table.combine_chunks()
    ids, up, top = table["id"], table["up"], table["top"]
    parents = pc.fill_null(pc.index_in(up, value_set=ids.combine_chunks()), -1).to_numpy().astype(np.int64)
    is_top = pc.is_valid(top).to_numpy()
    forest = trees(parents, is_top)
    marked = pc.fill_null(table["marked"], False).to_numpy()
    below, whole = descend(forest, marked)
    candidate = table["candidate"].to_numpy()
    under = candidate & below if drop_under else np.zeros(len(below), dtype=bool)
    found = _sequences(table, forest, whole, marked, candidate & ~under)
    missing = pc.unique(pc.filter(up, pa.array((parents < 0) & pc.is_valid(up).to_numpy())))
    reach = np.union1d(np.flatnonzero(marked | below), found.parents)
    return {
        "under": table.select(["thread", "id", "month"]).filter(pa.array(under)).cast(SCHEMAS["under"]),
        "sequences": found.sequences,
        "members": found.members,
        "broken": found.broken,
        "missing": pa.table([missing], schema=SCHEMAS["missing"]),
        "reach": table.select(["id", "thread"]).take(reach).cast(SCHEMAS["reach"]),
    }


def _table(name: str, columns: Sequence[object]) -> pa.Table:
    return pa.table(list(columns), schema=SCHEMAS[name])


def _sequences(table: pa.Table, forest: Trees, whole: Flags, marked: Flags, kept: Flags) -> _Found:
    """For each comment or post with a kept sarcastic reply: the way to it, and all its kept replies."""
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
    way, lengths = _ways(forest, parents, answered)
    top = first.copy()  # the row that names the post
    top[answered] = way[(np.cumsum(lengths) - lengths)[answered]]
    ids, post, heads = table["id"], table["top"].take(top), table.take(first)
    last = pc.if_else(answered, ids.take(np.where(answered, parents, 0)), post)
    trail = pc.binary_join_element_wise(post, _joined(ids.take(way), lengths), " ")
    labels = pa.chunked_array([pc.if_else(marked[replies], "1", "0")])
    sequences = [
        heads["thread"], post, last, pc.if_else(answered, trail, post),
        _joined(ids.take(replies), sizes[sound]), _joined(labels, sizes[sound]), heads["subreddit"],
    ]  # fmt: skip
    return _Found(
        _table("sequences", sequences),
        _members(table.take(np.union1d(way, replies)), heads, post),
        _table("broken", [lost["thread"], lost["up"], lost["month"]]),
        parents[answered],
    )


def _ways(forest: Trees, parents: Numbers, answered: Flags) -> tuple[Numbers, Numbers]:
    """The rows from below the post down to each parent, one way after the other, and how long each is: a
    post that is answered itself has none."""
    way, begins = paths(forest, parents[answered])
    lengths = np.zeros(len(parents), dtype=np.int64)
    lengths[answered] = np.diff(begins)
    return way, lengths


def _ordered(table: pa.Table, codes: Numbers, rows: Numbers) -> Numbers:
    """Rows by what they answer, then as the layout wants them."""
    keys = table.select(["created_utc", "id"]).take(rows).append_column("code", pa.array(codes[rows]))
    order = pc.sort_indices(keys, sort_keys=[(key, "ascending") for key in ("code", "created_utc", "id")])
    ordered: Numbers = rows[order.to_numpy()]
    return ordered


def _joined(words: pa.ChunkedArray, sizes: Numbers) -> pa.ChunkedArray:
    """So many words each time, with spaces between; in pieces, since one of Arrow's holds 2 GB of text."""
    begins = np.append(0, np.cumsum(sizes))
    cuts = np.searchsorted(begins, np.arange(WORDS_AT_ONCE, begins[-1], WORDS_AT_ONCE))
    pieces = []
    for first, last in pairwise(np.unique([0, *cuts, len(sizes)])):
        places = (begins[first : last + 1] - begins[first]).astype(np.int32)
        some = words.slice(begins[first], places[-1]).combine_chunks()
        pieces.append(pc.binary_join(pa.ListArray.from_arrays(places, some), " "))
    return pa.chunked_array(pieces, pa.string())


def _members(comments: pa.Table, heads: pa.Table, post: pa.ChunkedArray) -> pa.Table:
    """All that the sequences are made of; of a post, the first of the subreddits it is said to be in."""
    posts = pa.table([heads["thread"], post, heads["subreddit"]], names=["thread", "id", "subreddit"])
    posts = posts.group_by(["thread", "id"]).aggregate([("subreddit", "min")])
    said = [comments["thread"], comments["id"], _all(False, comments), _all("", comments)]
    posted = [posts["thread"], posts["id"], _all(True, posts), posts["subreddit_min"]]
    return pa.concat_tables([_table("members", said), _table("members", posted)])


def _all(value: object, table: pa.Table) -> pa.Array:
    return pa.repeat(value, len(table))


def _parent_codes(table: pa.Table, forest: Trees) -> Numbers:
    """One number for each thing that can be answered: a row here, a post, or a comment that is missing."""
    n = forest.post
    outside = pc.coalesce(
        pc.binary_join_element_wise("3", table["top"], ""), pc.binary_join_element_wise("1", table["up"], "")
    )
    numbers = (
        pc.fill_null(outside.combine_chunks().dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    )
    return np.where(forest.parents < n, forest.parents, np.where(numbers >= 0, n + numbers, -1))


def write_empty(target: Path) -> None:
    """Files without rows, where there is no thread to work on."""
    for name in SCHEMAS:
        write(target, name, 0, SCHEMAS[name].empty_table())
