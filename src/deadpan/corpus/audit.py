"""Studies on a built corpus: how noisy its labels are, and how well people tell which of two is sarcastic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.conversations import BuiltCorpus, IndexLine, context, turn
from deadpan.corpus.rules import any_of, literal, literals
from deadpan.draws import sample
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.records import Turn
from deadpan.studies import Study, StudyItem, write_study

AT_ONCE = 10_000


def write_audit(corpus: BuiltCorpus, out: Path, *, count: int = 500, seed: int = 0, raters: int = 1) -> int:
    """The paper's section 4.1: `count` comments of either label, with context and their original words.

    The marker is shown where there was one: a false positive is a "/s" that was not an annotation.
    """
    chosen = [
        row
        for label in (1, 0)
        for row in sample(_ids(corpus, label), count, seed=seed, key=lambda row: str(row["id"]))
    ]
    if not chosen:
        raise DataError(f"{corpus.folder}: the corpus has no comments to audit")
    rows = _rows(corpus, [str(row["id"]) for row in chosen])
    paths = _ancestors(corpus, set(rows))
    entries = corpus.texts("raw", (id for path in paths.values() for id in path))
    originals = _originals(corpus, [id for id, row in rows.items() if row["label"]])
    items = [_audit_item(row, paths, entries, originals) for _, row in sorted(rows.items())]
    study = Study(
        protocol="audit",
        title="Is the label right?",
        seed=seed,
        raters_per_item=raters,
        settings={"sarcastic": sum(r["label"] for r in rows.values()), "count": count},
    )
    return write_study(out, study, items, command="corpus audit", inputs=[corpus.folder / "manifest.json"])


def _ids(corpus: BuiltCorpus, label: int) -> Iterator[dict[str, Any]]:
    """Ids of one label as a stream: a draw needs every one of them, but holds only a few."""
    connection = duckdb.connect()
    query = f"SELECT id FROM {literal(str(corpus.parquet))} WHERE label = {label}"
    for batch in connection.sql(query).to_arrow_reader(AT_ONCE):
        yield from batch.to_pylist()


def _rows(corpus: BuiltCorpus, ids: list[str]) -> dict[str, dict[str, Any]]:
    listed = ", ".join(map(literal, ids))
    query = f"SELECT * FROM {literal(str(corpus.parquet))} WHERE id IN ({listed})"
    return {row["id"]: row for row in duckdb.connect().sql(query).to_arrow_table().to_pylist()}


def _ancestors(corpus: BuiltCorpus, ids: set[str]) -> dict[str, tuple[str, ...]]:
    """The whole way to a comment, for those that are in a sequence."""
    return {
        id: line.ancestors for line in corpus.index("raw/sequences.csv") for id in line.responses if id in ids
    }


def _originals(corpus: BuiltCorpus, ids: list[str]) -> dict[str, str]:
    """What marked comments said before the marker was taken off; it is only kept in the work folder."""
    files = sorted((corpus.folder / ".work").glob("texts-*/*.parquet"))
    if not ids:
        return {}
    if not files:
        raise DataError(
            f"{corpus.folder}: the original words are in .work, which is gone: run deadpan corpus build again"
        )
    marked = f"original IS NOT NULL AND {any_of('id', ids)}"
    query = f"SELECT id, original FROM read_parquet({literals(files)}) WHERE {marked}"
    return dict(duckdb.connect().execute(query).fetchall())


def _audit_item(
    row: dict[str, Any],
    paths: dict[str, tuple[str, ...]],
    entries: dict[str, dict[str, Any]],
    originals: dict[str, str],
) -> StudyItem:
    """In no sequence, the comment it answers is all the context there is."""
    id, label = row["id"], bool(row["label"])
    if id in paths:
        before = context(paths[id], entries)
    else:
        before = (Turn("", row["parent_comment"]),) if row["parent_comment"] else ()
    words = originals[id] if label else row["comment"]
    return StudyItem(
        id=id,
        response=Turn(row["author"], words),
        context=before,
        shown={"original": words, "subreddit": row["subreddit"], "date": row["date"]},
        hidden={"label": label, "text": row["comment"]},
    )


def write_pairs(
    corpus: BuiltCorpus, out: Path, *, folder: str = "main", count: int = 100, seed: int = 0, raters: int = 5
) -> int:
    """The paper's section 5.2.3: two replies to one context, which of them is sarcastic."""
    lines = (line for side in ("train", "test") for line in corpus.index(f"{folder}/{side}-balanced.csv"))
    chosen = sample(lines, count, seed=seed, key=lambda line: line.last)
    if not chosen:
        raise DataError(f"{corpus.folder / folder}: no pair in its balanced files: build from more months")
    entries = corpus.texts(folder, (id for line in chosen for id in line.ids))
    tally = Tally()
    items = [item for line in chosen if (item := _pair_item(line, entries, tally))]
    study = Study(
        protocol="choose", title="Which of the two is sarcastic?", seed=seed, raters_per_item=raters
    )
    return write_study(
        out, study, items, command="corpus pairs", inputs=[corpus.folder / "manifest.json"], tally=tally
    )


def _pair_item(line: IndexLine, entries: dict[str, dict[str, Any]], tally: Tally) -> StudyItem | None:
    """What both answer is the response people are asked about; a pair without any context is left out."""
    before = context(line.ancestors, entries)
    if not before:
        tally.drop("no_context", line.last)
        return None
    return StudyItem(
        id=line.last,
        response=before[-1],
        context=before[:-1],
        options=tuple(turn(entries[id]).text for id in line.responses),
        hidden={"answer": line.labels.index("1"), "ids": list(line.responses)},
    )
