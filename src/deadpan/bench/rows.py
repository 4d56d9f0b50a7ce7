"""One row a question and run: what the model said, what it cost, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from deadpan.bench.items import LETTERS
from deadpan.errors import ConfigError, DataError
from deadpan.storage import write_records
from deadpan.studies import write_csv


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the raw log. Letters are of the item's own order, whatever order was shown.

    `prediction` is empty where nothing could be read. `stop_reason` is the last call's. Tokens and cost are
    of all calls the row took; `cost` is None where a price is not known. `escalated` counts larger limits
    asked, `retries` failed attempts. A row with an `error` has no answer and makes its run incomplete.
    """

    model: str
    returned: str
    set: str
    set_hash: str
    item: str
    family: str
    category: str
    language: str
    run: int
    answer: str
    prediction: str
    correct: bool
    order: str
    stop_reason: str
    max_tokens: int
    escalated: int
    retries: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    error: str
    text: str
    at: str
    source: str = ""

    @property
    def truncated(self) -> bool:
        """Its last answer was still cut off."""
        return self.stop_reason == "max_tokens"

    @property
    def refused(self) -> bool:
        """The provider would not answer."""
        return self.stop_reason == "content_filter"

    @property
    def unread(self) -> bool:
        """A whole answer without a letter; errors, refusals and cut-off answers are counted apart."""
        return not (self.prediction or self.error or self.refused or self.truncated)


EXPORTS = (".parquet", ".csv", ".jsonl")
SECRET = ("item", "family", "answer", "prediction", "correct", "order", "error", "text")
"""What would tell a private set: no item, letter, order, text or verdict leaves its run folder."""
KINDS = get_type_hints(Row)
BareRow: Any = make_dataclass(
    "BareRow", [(name, kind) for name, kind in KINDS.items() if name not in SECRET], frozen=True, slots=True
)
"""A row of a private set, as it is exported: what it cost and how it went, not what was asked or said."""


def write_rows(path: Path, rows: Sequence[Row], public: bool) -> int:
    """Write rows as Parquet, CSV or JSON lines; of a private set without a word of items or answers."""
    path = Path(path)
    if path.suffix not in EXPORTS:
        raise ConfigError(f"{path}: name it {', '.join(EXPORTS)}, so that the format is known")
    kept, kind = (rows, Row) if public else (bare(rows), BareRow)
    return write_csv(path, kept, kind) if path.suffix == ".csv" else write_records(path, kept, kind)


def bare(rows: Iterable[Row]) -> list[Any]:
    """Rows without their secrets."""
    kept = [each.name for each in fields(BareRow)]
    return [BareRow(**{name: getattr(row, name) for name in kept}) for row in rows]


def letters(order: Sequence[int]) -> str:
    """An order of options as letters: which of the item's own stands first, second, ..."""
    return "".join(LETTERS[place] for place in order)


def check_one_set(rows: Sequence[Row]) -> None:
    """Rows can only be scored together if they answer the very same set."""
    hashes = {(row.set, row.set_hash) for row in rows}
    if len(hashes) > 1:
        (one, first), (other, second) = sorted(hashes)[:2]
        raise DataError(
            f"rows of two sets, {one} ({first[:12]}) and {other} ({second[:12]}): score each apart, "
            "or run the older one again"
        )
