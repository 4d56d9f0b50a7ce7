"""Studies of a finished corpus: how noisy its labels are, and how well people find the sarcastic reply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.engines.duckdb import any_of, literal, literals
from deadpan.draws import sample
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine
from deadpan.formats.study import AuditItem, PairwiseItem, Study, write_study
from deadpan.page import Summary
from deadpan.records import Turn
from deadpan.results import Result

_BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class CorpusStudy(Result):
    """A study folder written from a corpus, for the studio."""

    folder: Path
    protocol: str
    items: int

    def summary(self) -> Summary:
        create = f"deadpan studio create {self.protocol} {self.folder} --name NAME"
        return Summary(notes=(f"{self.folder}: {self.items:,} items", f"Next: {create}"))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), "items": self.items, "protocol": self.protocol}


def write_noise_study(
    corpus: BuiltCorpus | Path | str, out: Path, *, count: int = 500, seed: int = 0, raters: int = 3
) -> CorpusStudy:
    """Write the study of label noise (section 4.1 of the paper): `count` random comments of each label.

    Comments are shown with their context and original text, marker included: a false positive is a "/s" that
    was not an annotation.
    """
    corpus = BuiltCorpus.of(corpus)
    chosen = [
        row for label in (1, 0) for row in sample(_ids(corpus, label), count, seed=seed, key=lambda row: str(row["id"]))
    ]
    if not chosen:
        raise DataError(f"{corpus.folder}: the corpus has no comments to audit")
    wanted = any_of("id", [str(row["id"]) for row in chosen])
    found = duckdb.connect().sql(f"SELECT * FROM {literal(str(corpus.parquet))} WHERE {wanted}")
    rows = {row["id"]: row for row in found.to_arrow_table().to_pylist()}
    working = WorkingRows(corpus)
    before = contexts(working, set(rows))
    originals = working.originals([id for id, row in rows.items() if row["label"]])
    items = [_audit_item(row, before, originals) for _, row in sorted(rows.items())]
    study = Study(
        protocol="audit",
        title="Is the label right?",
        seed=seed,
        raters_per_item=raters,
        settings={"sarcastic": sum(r["label"] for r in rows.values()), "count": count},
    )
    inputs = [corpus.folder / "manifest.json"]
    n = write_study(out, study, items, command="corpus study noise", inputs=inputs)
    return CorpusStudy(out, study.protocol, n)


def _ids(corpus: BuiltCorpus, label: int) -> Iterator[dict[str, Any]]:
    """Yield the ids of one label as a stream, of which a sample keeps only a few."""
    connection = duckdb.connect()
    query = f"SELECT id FROM {literal(str(corpus.parquet))} WHERE label = {label}"
    for batch in connection.sql(query).to_arrow_reader(_BATCH_ROWS):
        yield from batch.to_pylist()


def _audit_item(row: dict[str, Any], before: dict[str, tuple[Turn, ...]], originals: dict[str, str]) -> AuditItem:
    """Return an item with all the turns before the comment, whatever its label."""
    id, label = row["id"], bool(row["label"])
    words = originals[id] if label else row["comment"]
    return AuditItem(
        id=id,
        response=Turn(row["author"], words),
        context=before[id],
        original=words,
        subreddit=row["subreddit"],
        date=row["date"],
        label=label,
        text=row["comment"],
    )


def write_pairs_study(
    corpus: BuiltCorpus | Path | str,
    out: Path,
    *,
    subset: str = "main",
    count: int = 100,
    seed: int = 0,
    raters: int = 5,
) -> CorpusStudy:
    """Write the study of human performance (section 5.2.3 of the paper): which of two is sarcastic."""
    corpus = BuiltCorpus.of(corpus)
    lines = (line for side in ("train", "test") for line in corpus.index(f"{subset}/{side}-balanced.csv"))
    chosen = sample(lines, count, seed=seed, key=lambda line: line.last)
    if not chosen:
        raise DataError(f"{corpus.folder / subset}: no pair in its balanced files: build from more months")
    entries = corpus.texts(subset, (id for line in chosen for id in line.ids))
    tally = Tally()
    items = [item for line in chosen if (item := _pair_item(line, entries, tally))]
    study = Study(protocol="pairwise", title="Which of the two is sarcastic?", seed=seed, raters_per_item=raters)
    inputs = [corpus.folder / "manifest.json"]
    n = write_study(out, study, items, command="corpus study pairs", inputs=inputs, tally=tally)
    return CorpusStudy(out, study.protocol, n)


def _pair_item(line: IndexLine, entries: dict[str, dict[str, Any]], tally: Tally) -> PairwiseItem | None:
    """Return an item that shows what both replies answer; a pair without any context is dropped."""
    # A post that no dump has is without a text.
    above = [entries[id] for id in line.ancestors if entries[id]["text"]]
    before = tuple(Turn(entry["author"], entry["text"]) for entry in above)
    if not before:
        tally.drop("no_context", line.last)
        return None
    return PairwiseItem(
        id=line.last,
        response=before[-1],
        context=before[:-1],
        options=tuple(entries[id]["text"] for id in line.responses),
        answer=line.labels.index(True),
        ids=tuple(line.responses),
    )


_ROW_COLUMNS = "id, up, thread, on_post, author, text, original"


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
        once = f"SELECT r.* FROM read_parquet({literals(rows)}) r ANTI JOIN read_parquet({literals(repeated)}) c"
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
        return {row["id"]: row for row in self._rows(_ROW_COLUMNS, self.comments, condition)}

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
