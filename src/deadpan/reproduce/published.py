"""Published numbers: a TOML file per paper, a cell per number, each with an id."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from deadpan.errors import ConfigError, DataError
from deadpan.registry import unknown

PAPERS = ("sarc", "isarcasm", "kocosa", "sarcbench")
NOT_PUBLISHED = "-"
ROUNDED = re.compile(r"(\d+)(?:\.(\d+))?([KM])")
"""A count in thousands or millions, such as 4.7K."""
UNITS = {"K": 1_000, "M": 1_000_000}

Judged = Literal["higher", "either", "count", "words"]
"""The rule that judges a cell. "higher": ours may be better; "either": the published number must lie in our
interval (precision and recall are traded for each other); "count": equal in the digits published;
"words": a statement."""


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One number, or a statement, of a table or figure. `needs` names what no run can give.

    `said` is a statement, or a count as it is published, such as 4.7K; `step` is what its last digit counts.
    """

    id: str
    exhibit: str
    row: str
    column: str
    value: float | None
    said: str
    judged: Judged
    scale: float
    decimals: int
    needs: str = ""
    step: float = 1.0

    @property
    def text(self) -> str:
        """The number as it is published."""
        if self.value is None or self.said:
            return self.said
        return f"{self.value:,.0f}" if self.judged == "count" and self.value.is_integer() else (
            f"{self.value:.{self.decimals}f}"
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table, a figure, or the numbers of a section."""

    id: str
    title: str
    cells: tuple[PublishedCell, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and everything of it that is measured again."""

    name: str
    short: str
    title: str
    citation: str
    exhibits: tuple[Exhibit, ...] = field(repr=False)

    def cells(self) -> Iterator[PublishedCell]:
        """Yield every cell, in the order of the paper."""
        for exhibit in self.exhibits:
            yield from exhibit.cells

    def cell(self, id: str) -> PublishedCell:
        """Return a cell by its id."""
        return next(cell for cell in self.cells() if cell.id == id)


def slug(text: str) -> str:
    """Return a name for an id: letters and digits, joined by hyphens."""
    signs = {":)": "smile", ":(": "frown", ":/": "slanted", ", but": "comma-but"}
    words = signs.get(text, re.sub(r"[^\w%@.]+", "-", text.lower()).strip("-"))
    return words.replace("%", "percent").replace("@", "-at-")


def cell_id(exhibit: str, row: str, column: str) -> str:
    """Return the id of a cell: exhibit/row/column."""
    return f"{exhibit}/{slug(row)}/{slug(column)}"


@cache
def read_paper(name: str) -> Paper:
    """Return the published numbers of a paper."""
    if name not in PAPERS:
        raise ConfigError(unknown("paper", name, PAPERS))
    raw = files("deadpan.reproduce").joinpath("papers", f"{name}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(raw)
    exhibits = tuple(_exhibit(each) for each in table["exhibits"])
    ids = [cell.id for exhibit in exhibits for cell in exhibit.cells]
    if len(set(ids)) < len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)
        raise DataError(f"{name}.toml: two cells have the id {twice!r}: rename a row")
    return Paper(name, table["short"], table["title"], table["citation"], exhibits)


def _exhibit(table: Mapping[str, Any]) -> Exhibit:
    return Exhibit(table["id"], table["title"], tuple(_cells(table)))


def _cells(table: Mapping[str, Any]) -> Iterator[PublishedCell]:
    columns, judged = table["columns"], table["judged"]
    needs, by_row = table.get("needs", {}), table.get("judged_rows", {})
    for name, *values in table["rows"]:
        if len(values) != len(columns):
            raise DataError(f"{table['id']}, {name}: {len(values)} values for {len(columns)} columns")
        for place, (column, value) in enumerate(zip(columns, values, strict=True)):
            if value == NOT_PUBLISHED:
                continue
            kind = by_row.get(name, judged[place] if place < len(judged) else judged[0])
            if kind not in get_args(Judged):
                raise DataError(f"{table['id']}, {name}: {kind!r} is no way to judge a cell")
            number, step = _number(value) if kind == "count" or not isinstance(value, str) else (None, 1.0)
            yield PublishedCell(
                cell_id(table["id"], name, column), table["id"], name, column,
                number, value if isinstance(value, str) else "", kind,
                float(table.get("scale", 1)), int(table.get("decimals", 0)),
                needs.get(name, needs.get("*", "")), step,
            )  # fmt: skip


def _number(value: str | float) -> tuple[float, float]:
    """Return a published number, and what its last digit counts: 4.7K is 4,700 in steps of 100."""
    if not isinstance(value, str):
        return float(value), 1.0
    found = ROUNDED.fullmatch(value)
    if found is None:
        raise DataError(f"{value!r}: a count is a whole number, or one such as 4.7K or 1.34M")
    whole, part, unit = found[1], found[2] or "", UNITS[found[3]]
    step = unit / 10 ** len(part)
    return int(whole + part) * step, step
