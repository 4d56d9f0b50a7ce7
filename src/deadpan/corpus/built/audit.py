"""Studies of a finished corpus: how noisy its labels are, and how well people find the sarcastic reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from deadpan.corpus.built.ancestors import WorkingRows, contexts
from deadpan.corpus.built.conversations import context, turn
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.sql import literal
from deadpan.draws import sample
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine
from deadpan.formats.study import Study, write_study
from deadpan.formats.study_items import AuditItem, PairwiseItem
from deadpan.records import Turn
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class CorpusStudy(Result):
    """A study folder written from a corpus, for the studio."""

    folder: Path
    protocol: str
    items: int

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary

        create = f"deadpan studio create {self.protocol} {self.folder} --name NAME"
        return Summary(notes=(f"{self.folder}: {self.items:,} items", f"Next: {create}"))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), "items": self.items, "protocol": self.protocol}


def write_audit(
    corpus: BuiltCorpus | Path | str, out: Path, *, count: int = 500, seed: int = 0, raters: int = 1
) -> CorpusStudy:
    """Write the study of label noise (section 4.1 of the paper): `count` random comments of each label.

    Comments are shown with their context and original text, marker included: a false positive is a "/s" that
    was not an annotation.
    """
    corpus = BuiltCorpus.of(corpus)
    chosen = [
        row
        for label in (1, 0)
        for row in sample(_ids(corpus, label), count, seed=seed, key=lambda row: str(row["id"]))
    ]
    if not chosen:
        raise DataError(f"{corpus.folder}: the corpus has no comments to audit")
    rows = _rows(corpus, [str(row["id"]) for row in chosen])
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
    n = write_study(out, study, items, command="corpus audit", inputs=inputs)
    return CorpusStudy(out, study.protocol, n)


def _ids(corpus: BuiltCorpus, label: int) -> Iterator[dict[str, Any]]:
    """Yield the ids of one label as a stream, of which a sample keeps only a few."""
    connection = duckdb.connect()
    query = f"SELECT id FROM {literal(str(corpus.parquet))} WHERE label = {label}"
    for batch in connection.sql(query).to_arrow_reader(ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _rows(corpus: BuiltCorpus, ids: list[str]) -> dict[str, dict[str, Any]]:
    listed = ", ".join(map(literal, ids))
    query = f"SELECT * FROM {literal(str(corpus.parquet))} WHERE id IN ({listed})"
    return {row["id"]: row for row in duckdb.connect().sql(query).to_arrow_table().to_pylist()}


def _audit_item(
    row: dict[str, Any], before: dict[str, tuple[Turn, ...]], originals: dict[str, str]
) -> AuditItem:
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


def write_pairs(
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
    study = Study(
        protocol="pairwise", title="Which of the two is sarcastic?", seed=seed, raters_per_item=raters
    )
    inputs = [corpus.folder / "manifest.json"]
    n = write_study(out, study, items, command="corpus pairs", inputs=inputs, tally=tally)
    return CorpusStudy(out, study.protocol, n)


def _pair_item(line: IndexLine, entries: dict[str, dict[str, Any]], tally: Tally) -> PairwiseItem | None:
    """Return an item that shows what both replies answer; a pair without any context is dropped."""
    before = context(line.ancestors, entries)
    if not before:
        tally.drop("no_context", line.last)
        return None
    return PairwiseItem(
        id=line.last,
        response=before[-1],
        context=before[:-1],
        options=tuple(turn(entries[id]).text for id in line.responses),
        answer=line.labels.index(True),
        ids=tuple(line.responses),
    )
