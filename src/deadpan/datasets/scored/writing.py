"""One table in, one table out: every row and column is kept, label and score are added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.datasets.reading import Reading
from deadpan.datasets.table import TableReader
from deadpan.drops import Tally
from deadpan.formats.labels import NO_LABEL, label_word, label_words
from deadpan.formats.rows import TableRow
from deadpan.formats.table_writer import check_not_source, check_writable, write_table
from deadpan.formats.tables import header_of
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.text import plural

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

BATCH = 4096
NOT_JUDGED = {"no_text_not_judged": "without a text", "nul_byte_not_judged": "with a NUL byte"}
ADDED = ("label", "score", "reason")
"""Columns that are added; each is called predicted_label, ... where the table has one of that name."""

Predict = Callable[[Sequence[Example]], list[Prediction]]
Reason = Callable[[Example, Prediction], str]


@dataclass(frozen=True, slots=True)
class ScoredTable(Result):
    """A table that was scored: its rows by answer, the columns that were added, and what was not judged."""

    rows: int
    answers: Mapping[str, int]
    columns: tuple[str, ...]
    out: Path
    tally: Tally

    def summary(self) -> Summary:
        """Return the count of each answer, and the rows without one."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(
            (word or "not judged", n, f"{n / max(self.rows, 1):.1%}") for word, n in self.answers.items()
        )
        notes = (
            f"{plural(self.rows, 'row')} written to {self.out}, with the columns {', '.join(self.columns)}",
        )
        return Summary((Table(("answer", "rows", "share"), rows),), (*notes, *self._left_out()))

    def _left_out(self) -> Iterator[str]:
        """Yield what was not judged and not read, then the other changes."""
        changes = self.tally.changes
        missing = [f"{plural(changes[r], 'row')} {word}" for r, word in NOT_JUDGED.items() if changes[r]]
        if missing:
            yield f"not judged: {', '.join(missing)}"
        sheets = [r.partition(".")[2] for r in changes if r.startswith("sheet_not_read.")]
        if sheets:
            yield f"only the first sheet was read; not read: {', '.join(sheets)}"
        told = {*NOT_JUDGED, *(f"sheet_not_read.{name}" for name in sheets)}
        rest = Counter({reason: n for reason, n in changes.items() if reason not in told})
        yield from replace(self.tally, changes=rest).notes()

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        answers = {word or "not judged": n for word, n in self.answers.items()}
        return {
            "rows": self.rows, "answers": answers, "columns": list(self.columns), "out": str(self.out),
            **self.tally.as_dict(),
        }  # fmt: skip


def score_table(
    source: Path | str,
    out: Path | str,
    predict: Predict,
    reading: Reading | None = None,
    *,
    reason: Reason | None = None,
    kind: str = "",
    progress: Progress = silent,
) -> ScoredTable:
    """Write the table `source` to `out` with a label and a score for each row; formats go by extension.

    All rows and columns are kept; a row without a text has no answer. `reason` adds a third column. The label
    is sarcastic or sincere, or with a `kind` of sarcasm, irony or not irony. The table is read and written in
    batches, so its size is not limited by memory, except for Excel.
    """
    path, out = Path(source), check_writable(out)
    check_not_source(path, out)
    reader = TableReader("table", path, reading)
    rows = reader.judge()
    first = next(rows, None)
    names = list(first[0].fields) if first else header_of(path, reader.cure)
    added = _added_names(names, with_reason=reason is not None)
    answers: Counter[str] = Counter()

    def scored() -> Iterator[Mapping[str, Any]]:
        done = 0
        for batch in _batches(chain([first] if first else [], rows)):
            for row, prediction, why in _answers(batch, predict, reason):
                word = label_word(prediction, kind) if prediction else ""
                answers[word] += 1
                values = (word, prediction.score if prediction else None, why)
                yield dict(row.fields) | dict(zip(added, values, strict=False))
            done += len(batch)
            progress("scoring", done, 0)

    columns = [*names, *added]
    count = write_table(out, columns, scored(), _schema(path, added))
    order = (*label_words(kind), *NO_LABEL, "")
    return ScoredTable(
        count, {word: answers[word] for word in order if answers[word]}, added, out, reader.tally
    )


def _answers(
    batch: Sequence[tuple[TableRow, Example | None]], predict: Predict, reason: Reason | None
) -> Iterator[tuple[TableRow, Prediction | None, str]]:
    predictions = iter(predict([example for _, example in batch if example is not None]))
    for row, example in batch:
        if example is None:
            yield row, None, "no text to judge"
            continue
        prediction = next(predictions)
        yield row, prediction, reason(example, prediction) if reason else ""


def _added_names(names: Sequence[str], *, with_reason: bool) -> tuple[str, ...]:
    """Return the names of the new columns: none that the table has already."""
    wanted = ADDED if with_reason else ADDED[:2]
    taken = {name.strip().lower() for name in map(str, names)}
    for prefix in ("", "predicted_", *(f"predicted_{n}_" for n in range(2, 100))):
        found = tuple(f"{prefix}{name}" for name in wanted)
        if not taken & set(found):
            return found
    return tuple(f"deadpan_{name}" for name in wanted)


def _schema(path: Path, added: Sequence[str]) -> Any:
    """Return the Arrow schema of a scored Parquet file, so that its columns keep their types."""
    if path.suffix.lower() != ".parquet":
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    for name, kind in zip(added, (pa.string(), pa.float64(), pa.string()), strict=False):
        schema = schema.append(pa.field(name, kind))
    return schema


def _batches(
    rows: Iterator[tuple[TableRow, Example | None]],
) -> Iterator[list[tuple[TableRow, Example | None]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
