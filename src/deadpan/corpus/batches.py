"""One batch of threads: rows in, what is under sarcasm and the sequences out, wherever the engine runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deadpan.corpus.trees import Flags, Numbers, Trees, ancestors, descend, trees

TREE_COLUMNS = ("thread", "id", "up", "top", "marked", "candidate", "created_utc", "month", "subreddit")

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


@dataclass(slots=True)
class _Found:
    sequences: list[tuple[Any, ...]] = field(default_factory=list)
    posts: dict[tuple[str, str], str] = field(default_factory=dict)  # (thread, post): subreddit
    comments: dict[str, str] = field(default_factory=dict)  # id: thread
    broken: list[tuple[Any, ...]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)


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
    reach = np.union1d(np.flatnonzero(marked | below), np.array(found.parents, dtype=np.int64))
    return {
        "under": table.select(["thread", "id", "month"]).filter(pa.array(under)).cast(SCHEMAS["under"]),
        "sequences": _table("sequences", found.sequences),
        "members": _members(found),
        "broken": _table("broken", found.broken),
        "missing": pa.table([missing], schema=SCHEMAS["missing"]),
        "reach": table.select(["id", "thread"]).take(reach).cast(SCHEMAS["reach"]),
    }


def _table(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = SCHEMAS[name]
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _members(found: _Found) -> pa.Table:
    """All that the sequences are made of."""
    said, posts = len(found.comments), len(found.posts)
    columns = [
        [*found.comments.values(), *(thread for thread, _ in found.posts)],
        [*found.comments, *(post for _, post in found.posts)],
        [False] * said + [True] * posts,
        [""] * said + list(found.posts.values()),
    ]
    return pa.table(columns, schema=SCHEMAS["members"])


def _sequences(table: pa.Table, forest: Trees, whole: Flags, marked: Flags, kept: Flags) -> _Found:
    """For each comment or post with a kept sarcastic reply: the way to it, and all its kept replies."""
    found = _Found()
    codes = _parent_codes(table, forest)
    wanted = np.unique(codes[kept & marked & (codes >= 0)])
    rows = np.flatnonzero(kept & np.isin(codes, wanted))
    some = (
        table.select(["id", "up", "top", "thread", "created_utc", "month", "subreddit"])
        .take(rows)
        .to_pylist()
    )
    replies = [
        {**one, "code": int(code), "row": int(row), "label": bool(marked[row])}
        for one, code, row in zip(some, codes[rows], rows, strict=True)
    ]
    replies.sort(key=lambda one: (one["code"], one["created_utc"], one["id"]))
    names = _Names(table)
    for _, group in groupby(replies, key=lambda one: one["code"]):
        _sequence(list(group), forest, whole, names, found)
    return found


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


class _Names:
    """Ids by row, looked up one at a time: only a few rows of a batch are ever asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.ids = table["id"].combine_chunks()
        self.tops = table["top"].combine_chunks()

    def id(self, row: int) -> str:
        return str(self.ids[row].as_py())

    def top(self, row: int) -> str:
        return str(self.tops[row].as_py())


def _sequence(
    replies: list[dict[str, Any]], forest: Trees, whole: Flags, names: _Names, found: _Found
) -> None:
    first = replies[0]
    parent = int(forest.parents[first["row"]])
    thread, subreddit = first["thread"], first["subreddit"]
    if parent == forest.post:
        path = [first["top"]]
    elif parent < forest.post and whole[parent]:
        rows = ancestors(forest, parent)
        path = [names.top(rows[0]), *(names.id(row) for row in rows)]
        found.parents.append(parent)
    else:
        found.broken.append((thread, first["up"], first["month"]))
        return
    found.sequences.append(
        (
            thread, path[0], path[-1], " ".join(path), " ".join(one["id"] for one in replies),
            " ".join("1" if one["label"] else "0" for one in replies), subreddit,
        )
    )  # fmt: skip
    known = found.posts.setdefault((thread, path[0]), subreddit)
    found.posts[thread, path[0]] = min(known, subreddit)
    found.comments.update(dict.fromkeys(path[1:], thread))
    found.comments.update((one["id"], thread) for one in replies)


def write_empty(target: Path) -> None:
    """Files without rows, where there is no thread to work on."""
    for name in SCHEMAS:
        write(target, name, 0, _table(name, []))
