"""Export of rows as Parquet, CSV or JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from deadpan.bench.runs.folder import find_runs
from deadpan.bench.runs.rows import AnswerRow
from deadpan.errors import ConfigError
from deadpan.formats.export import write_csv
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import write_records

EXPORTS = (".parquet", ".csv", ".jsonl")
SECRET = ("item", "family", "answer", "prediction", "correct", "order", "error", "text")
"""Fields that would reveal a private set: they never leave its run folder."""
KINDS = get_type_hints(AnswerRow)
BareRow: Any = make_dataclass(
    "BareRow", [(name, kind) for name, kind in KINDS.items() if name not in SECRET], frozen=True, slots=True
)
"""A row of a private set as it is exported: cost and outcome, but neither item nor answer."""


def write_rows(path: Path, rows: Sequence[AnswerRow], public: bool) -> int:
    """Write rows as Parquet, CSV or JSON lines; rows of a private set without items and answers."""
    path = Path(path)
    if path.suffix not in EXPORTS:
        raise ConfigError(f"{path}: unknown format: end its name with {', '.join(EXPORTS)}")
    kept, kind = (rows, AnswerRow) if public else (bare(rows), BareRow)
    return write_csv(path, kept, kind) if path.suffix == ".csv" else write_records(path, kept, kind)


def bare(rows: Iterable[AnswerRow]) -> list[Any]:
    """Return rows without the fields in `SECRET`."""
    kept = [each.name for each in fields(BareRow)]
    return [BareRow(**{name: getattr(row, name) for name in kept}) for row in rows]


@dataclass(frozen=True, slots=True)
class RowExport(Result):
    """A file of exported rows."""

    out: Path
    rows: int
    with_items_and_answers: bool

    def as_dict(self) -> dict[str, object]:
        """Return the file and what it holds."""
        return {
            "out": str(self.out),
            "rows": self.rows,
            "with_items_and_answers": self.with_items_and_answers,
        }

    def summary(self) -> Summary:
        """Return the file and the number of rows."""
        note = "" if self.with_items_and_answers else " (private set: without items, letters and texts)"
        return Summary(notes=(f"{self.out}: {self.rows:,} rows{note}",))


def export_rows(folders: Sequence[Path], out: Path) -> RowExport:
    """Write the rows of runs to a file; rows of a private set without items, letters and texts."""
    runs = find_runs(folders)
    public = all(run.public for run in runs)
    written = write_rows(out, [row for run in runs for row in run.rows], public)
    return RowExport(Path(out), written, public)
