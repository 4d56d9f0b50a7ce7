"""Published numbers, a TOML file per paper, and the verdict on a cell that is measured again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from deadpan.errors import ConfigError, DataError, DeadpanError, MissingExtra, ModelError
from deadpan.registry import unknown
from deadpan.stats import Interval

PAPERS = ("sarc", "isarcasm", "kocosa", "sarcbench")
_NOT_PUBLISHED = "-"
# A count in thousands or millions, such as 4.7K.
_ROUNDED = re.compile(r"(\d+)(?:\.(\d+))?([KM])")
_UNITS = {"K": 1_000, "M": 1_000_000}

Judged = Literal["higher", "either", "count", "gain", "words", "stated"]
"""The rule that judges a cell. "higher": ours may be better; "either": the published number must lie in our
interval (precision and recall are traded for each other); "count": equal in the digits published; "gain": a
difference whose interval must not include 0; "words": a finding in words; "stated": no measurement."""


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
    exhibits = tuple(Exhibit(each["id"], each["title"], tuple(_cells(each))) for each in table["exhibits"])
    ids = [cell.id for exhibit in exhibits for cell in exhibit.cells]
    if len(set(ids)) < len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)
        raise DataError(f"{name}.toml: two cells have the id {twice!r}: rename a row")
    return Paper(name, table["short"], table["title"], table["citation"], exhibits)


# Published scores of detectors by corpus and metric: the paper, the table, the column, and how its rows begin.
_DETECTORS = {
    ("isarcasm", "f1"): ("isarcasm", "table-7", "F-score", ""),
    ("riloff", "f1"): ("isarcasm", "table-6", "F-score", "Riloff, "),
    ("ptacek", "f1"): ("isarcasm", "table-6", "F-score", "Ptacek, "),
    ("semeval2018-a", "f1"): ("isarcasm", "table-6", "F-score", "SemEval-2018, "),
    ("kocosa", "balanced_accuracy"): ("kocosa", "table-8", "BA", ""),
    ("sarc-pol", "accuracy"): ("sarc", "table-2", "pol-bal", ""),
    ("sarc-main", "accuracy"): ("sarc", "table-2", "all-bal", ""),
}


def published_detectors(corpus: str, metric: str) -> list[tuple[str, float, str]]:
    """Return systems with the scores that papers published on a corpus, best first, and where."""
    if (corpus, metric) not in _DETECTORS:
        return []
    name, exhibit, column, prefix = _DETECTORS[corpus, metric]
    paper = read_paper(name)
    rows = [
        (cell.row.removeprefix(prefix), cell.value / cell.scale, paper.short)
        for cell in paper.cells()
        if (cell.exhibit, cell.column) == (exhibit, column) and cell.row.startswith(prefix) and cell.value is not None
    ]
    return sorted(rows, key=lambda row: -row[1])


def _cells(table: Mapping[str, Any]) -> Iterator[PublishedCell]:
    columns, judged = table["columns"], table["judged"]
    needs, by_row = table.get("needs", {}), table.get("judged_rows", {})
    for name, *values in table["rows"]:
        if len(values) != len(columns):
            raise DataError(f"{table['id']}, {name}: {len(values)} values for {len(columns)} columns")
        for place, (column, value) in enumerate(zip(columns, values, strict=True)):
            if value == _NOT_PUBLISHED:
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
    found = _ROUNDED.fullmatch(value)
    if found is None:
        raise DataError(f"{value!r}: a count is a whole number, or one such as 4.7K or 1.34M")
    whole, part, unit = found[1], found[2] or "", _UNITS[found[3]]
    step = unit / 10 ** len(part)
    return int(whole + part) * step, step


Word = Literal[
    "reproduced", "consistent", "exceeds", "differs", "stated", "needs data", "needs people", "needs weights"
]
WORDS: tuple[Word, ...] = get_args(Word)
MARKS = {
    "reproduced": "✓", "consistent": "≈", "exceeds": "▲", "differs": "≠", "stated": "“",
    "needs data": "▤", "needs people": "☺", "needs weights": "▣",
}  # fmt: skip
"""A shape for each verdict, beside its word and never alone."""
LEGEND: Mapping[Word, str] = {
    "reproduced": "the same system on the same data or split, and the published value lies inside our interval; "
    "a count is equal in the digits published",
    "consistent": "another system or another sample, and the published value lies inside our interval: ours "
    "beside theirs, no claim",
    "exceeds": "our whole interval is better than the published value",
    "differs": "neither is the case, with the reason as far as it is known; so does a gain whose interval "
    "includes 0, and an answer that is the same for every text",
    "stated": "stated in the paper, not a measurement, or not legible in the source text",
    "needs data": "a file is missing: which one, and where it is published",
    "needs people": "only people can answer: the commands that ask them",
    "needs weights": "a model is missing: which one, and the command",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell measured again. `value` is on the scale of the program (a share, not per cent).

    `how` is the design in a few words; `reason` why the number may differ from the published one. `needs`
    names what is missing although something was measured, as in "data: FILE". `agrees` is the verdict on a
    statement, `text` what was found in words. `same` is True for the paper's system on the paper's data or
    split: nothing else can be reproduced.
    """

    value: Interval | None = None
    text: str = ""
    how: str = ""
    reason: str = ""
    needs: str = ""
    agrees: bool | None = None
    same: bool = False


@dataclass(frozen=True, slots=True)
class Needed:
    """A verdict and its reason."""

    word: Word
    why: str


class MissingPeople(DeadpanError):
    """A cell needs people; the message is the command that asks them."""


def judge(cell: PublishedCell, ours: Measured) -> Needed:
    """Return the verdict on a cell by the rules of `LEGEND`."""
    if ours.needs:
        return need_from(ours.needs)
    if cell.judged == "stated":
        return Needed("stated", "") if ours.agrees is not False else _differs(ours)
    if ours.agrees is not None:
        return _agrees(ours) if ours.agrees else _differs(ours)
    if cell.value is None or ours.value is None or ours.value.value is None:
        why = ours.value.why if ours.value is not None else ""
        return Needed("differs", why or ours.reason or "no number was measured")
    ends = (ours.value.value, ours.value.low, ours.value.high)
    value, low, high = (None if end is None else end * cell.scale for end in ends)
    if cell.judged == "count":
        return Needed("reproduced", "") if same_count(value or 0.0, cell) else _differs(ours)
    low, high = (value if low is None else low), (value if high is None else high)
    if cell.judged == "gain" and (low or 0.0) <= 0:
        return Needed("differs", "; ".join(filter(None, ("the interval includes 0: no gain is shown", ours.reason))))
    slack = 0.5 * 10.0**-cell.decimals  # the published number is rounded
    if (low or 0.0) - slack <= cell.value <= (high or 0.0) + slack:
        return _agrees(ours)
    if cell.judged in ("higher", "gain") and (low or 0.0) > cell.value:
        return Needed("exceeds", ours.reason)
    return _differs(ours)


def same_count(value: float, cell: PublishedCell) -> bool:
    """Return whether a count equals the published one in the digits published: 4.7K is 4,650 to 4,750."""
    published = cell.value or 0.0
    if not published.is_integer():
        return abs(value - published) <= 0.5 * 10.0**-cell.decimals
    return abs(value - published) <= (cell.step / 2 if cell.step > 1 else 0)


def _agrees(ours: Measured) -> Needed:
    return Needed("reproduced", "") if ours.same else Needed("consistent", ours.reason)


def _differs(ours: Measured) -> Needed:
    return Needed("differs", ours.reason or "the cause is not known")


def need_from(text: str) -> Needed:
    """Return a verdict from "data: FILE", "people: COMMAND" or "weights: NAME"."""
    kind, mark, why = text.partition(": ")
    word = f"needs {kind}"
    if not mark or word not in WORDS:
        raise DataError(f"{text!r}: a need starts with data, people or weights and a colon")
    return Needed(word, why)


def need_of(error: DeadpanError) -> Needed:
    """Return the verdict on a cell whose measurement stopped with an error that a user can fix."""
    if isinstance(error, MissingPeople):
        return Needed("needs people", str(error))
    if isinstance(error, ModelError | MissingExtra):
        return Needed("needs weights", str(error))
    return Needed("needs data", str(error))
