"""The conversation before any comment of a corpus, from the rows of the dumps in its working folder.

The released files have the ancestors of the sequences only, so most sincere comments would be shown alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.sql import any_of, literals
from deadpan.errors import DataError
from deadpan.records import Turn

COLUMNS = "id, up, thread, on_post, author, text, original"


class WorkingRows:
    """Comments and submissions of the dumps, each once, as the last build read them."""

    def __init__(self, corpus: BuiltCorpus) -> None:
        self.work = corpus.folder / ".work"
        self.connection = duckdb.connect()
        self.comments = self._source("comments")
        if not self.comments:
            raise DataError(
                f"{corpus.folder}: the texts of its dumps are in .work, which is missing: "
                f"run deadpan corpus build again"
            )
        self.posts = self._source("posts")

    def _source(self, kind: str) -> str:
        """Return the table of all rows, in which the best copy replaces the copies of a comment."""
        rows = self._files(f"{kind}-*/rows-*.parquet")
        repeated, best = (self._files(f"copies_{kind}-*/*/{name}.parquet") for name in ("repeated", "best"))
        if not rows or not best:
            return f"read_parquet({literals(rows)})" if rows else ""
        once = (
            f"SELECT r.* FROM read_parquet({literals(rows)}) r ANTI JOIN read_parquet({literals(repeated)}) c"
        )
        return f"({once} ON r.id = c.id UNION ALL BY NAME SELECT * FROM read_parquet({literals(best)}))"

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self.work.glob(pattern))

    def conversations(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return these comments and all others in their threads, by id."""
        threads = self._rows("thread", self.comments, any_of("id", ids))
        found = self._by_id(any_of("thread", {row["thread"] for row in threads}))
        while lost := {row["up"] for row in found.values() if row["up"] and row["up"] not in found}:
            more = self._by_id(any_of("id", lost))
            if not more:
                break
            found |= more
        return found

    def originals(self, ids: Collection[str]) -> dict[str, str]:
        """Return marked comments with their marker."""
        rows = self._rows("id, original", self.comments, f"original IS NOT NULL AND {any_of('id', ids)}")
        return {row["id"]: row["original"] for row in rows}

    def titles(self, ids: Iterable[str]) -> dict[str, Turn]:
        """Return the submissions with these ids."""
        if not self.posts:
            return {}
        rows = self._rows("id, author, text", self.posts, any_of("id", set(ids)))
        return {row["id"]: Turn(row["author"], row["text"]) for row in rows}

    def _by_id(self, condition: str) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self._rows(COLUMNS, self.comments, condition)}

    def _rows(self, columns: str, source: str, condition: str) -> list[dict[str, Any]]:
        query = f"SELECT {columns} FROM {source} WHERE {condition}"
        rows: list[dict[str, Any]] = self.connection.sql(query).to_arrow_table().to_pylist()
        return rows


def contexts(rows: WorkingRows, ids: Collection[str]) -> dict[str, tuple[Turn, ...]]:
    """Return the turns before each comment, from the post down; a turn without a text is left out."""
    found = rows.conversations(ids)
    paths: dict[str, list[dict[str, Any]]] = {}
    for id in ids:
        path, seen, at = [], {id}, found.get(id)
        while at is not None:
            path.append(at)
            above = at["up"]
            at = found.get(above) if above and above not in seen else None
            seen.add(above)
        paths[id] = path
    titles = rows.titles(path[-1]["thread"] for path in paths.values() if path and path[-1]["on_post"])
    before = {}
    for id, path in paths.items():
        first = titles.get(path[-1]["thread"]) if path and path[-1]["on_post"] else None
        turns = [first] if first else []
        turns += [Turn(row["author"], row["text"]) for row in reversed(path[1:])]
        before[id] = tuple(turn for turn in turns if turn.text)
    return before
