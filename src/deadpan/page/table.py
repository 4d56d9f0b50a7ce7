"""A table people can read and copy: numbers to the right, intervals with a whisker, n beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.errors import DataError
from deadpan.page.markup import escape, safe_href
from deadpan.page.numbers import bounds, digits, number
from deadpan.stats import Interval

WIDTH, HEIGHT, MARGIN = 120, 14, 4
"""The size of a whisker, in its own units."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads somewhere."""

    text: str
    href: str


Cell = str | int | float | bool | Interval | Link | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of plain cells: what a figure shows, or a page prints."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for place, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise DataError(
                    f"row {place} of a table has {len(row)} cells for the {len(self.columns)} columns "
                    f"{', '.join(self.columns)}"
                )


def with_counts(table: Table) -> Table:
    """The table with an n column where it has scores but does not say of how many."""
    scored = [i for i in range(len(table.columns)) if _scores(table, i)]
    if not scored or "n" in table.columns:
        return table
    agree = all(len({c.n for c in row if isinstance(c, Interval)}) <= 1 for row in table.rows)
    after = [scored[-1]] if agree else scored
    columns: list[str] = []
    rows: list[list[Cell]] = [[] for _ in table.rows]
    for place, column in enumerate(table.columns):
        columns.append(column)
        for made, row in zip(rows, table.rows, strict=True):
            made.append(row[place])
        if place in after:
            columns.append("n")
            for made, row in zip(rows, table.rows, strict=True):
                made.append(_count(row if agree else (row[place],)))
    return Table(tuple(columns), tuple(tuple(row) for row in rows))


def _count(cells: Sequence[Cell]) -> Cell:
    return next((cell.n for cell in cells if isinstance(cell, Interval)), None)


def _scores(table: Table, column: int) -> list[Interval]:
    return [cell for row in table.rows if isinstance(cell := row[column], Interval)]


def render_table(table: Table, caption: str = "", numeric: Sequence[str] = ()) -> str:
    """The table as HTML. Columns of numbers are found; `numeric` names those that hold numbers as text."""
    table = with_counts(table)
    if not table.rows:
        return '<p class="empty">Nothing to show: no rows.</p>'
    right = [name in numeric or _is_numeric(table, i) for i, name in enumerate(table.columns)]
    scales = [_Scale.of(_scores(table, i)) for i in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{_class(side)}>{escape(name)}{scale.caption() if scale else ""}</th>'
        for name, side, scale in zip(table.columns, right, scales, strict=True)
    )
    body = "\n".join(f"<tr>{_row(row, right, scales)}</tr>" for row in table.rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    name = escape(caption or f"Table of {table.columns[0]}")
    # A table wider than a phone scrolls by itself; the tabindex lets the keyboard scroll it too.
    return (
        f'<div class="table" role="region" aria-label="{name}" tabindex="0"><table>{title}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(row: Sequence[Cell], right: Sequence[bool], scales: Sequence[_Scale | None]) -> str:
    cells = [
        (side, _cell(cell, scale) or '<span class="dim">–</span>')
        for cell, side, scale in zip(row, right, scales, strict=True)
    ]
    first, *others = [
        f'<th scope="row"{_class(side)}>{text}</th>' if place == 0 else f"<td{_class(side)}>{text}</td>"
        for place, (side, text) in enumerate(cells)
    ]
    return "".join([first, *others])


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


def _is_numeric(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows if row[column] is not None]
    kinds = (int, float, Interval)
    return bool(cells) and all(isinstance(c, kinds) and not isinstance(c, bool) for c in cells)


def _cell(cell: Cell, scale: _Scale | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Interval):
        return _score_cell(cell, scale)
    if isinstance(cell, Link):
        return f'<a href="{safe_href(cell.href)}">{escape(cell.text)}</a>'
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return escape(cell if isinstance(cell, str) else number(cell))


def _score_cell(interval: Interval, scale: _Scale | None) -> str:
    if interval.value is None or scale is None:
        return f'<span class="dim">undefined</span>{_remark(interval)}'
    return (
        f'<span class="score"><b>{interval.value:z.{scale.decimals}f}</b> '
        f'<span class="dim">{bounds(interval, scale.decimals)}</span></span>'
        f"{scale.whisker(interval)}{_remark(interval)}"
    )


def _remark(interval: Interval) -> str:
    return f'<span class="why">{escape(interval.why)}</span>' if interval.why else ""


@dataclass(frozen=True, slots=True)
class _Scale:
    """One scale for a column's whiskers, so that rows can be compared by eye."""

    low: float
    high: float
    decimals: int

    @classmethod
    def of(cls, intervals: Sequence[Interval]) -> _Scale | None:
        ends = [end for i in intervals for end in (i.value, i.low, i.high) if end is not None]
        if not ends:
            return None
        low, high = min(ends), max(ends)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return cls(low, high, digits(intervals))

    def place(self, value: float) -> str:
        return f"{MARGIN + (WIDTH - 2 * MARGIN) * (value - self.low) / (self.high - self.low):.1f}"

    def caption(self) -> str:
        """What the ends of the whiskers' scale are."""
        low, high = f"{self.low:z.{self.decimals}f}", f"{self.high:z.{self.decimals}f}"
        return f'<span class="scale" aria-hidden="true"><span>{low}</span><span>{high}</span></span>'

    def whisker(self, interval: Interval) -> str:
        """The interval as a line and the value as a dot; the same numbers stand beside it as text."""
        middle = HEIGHT / 2
        line = ""
        if interval.low is not None and interval.high is not None:
            line = f'<path d="M{self.place(interval.low)} {middle:g}H{self.place(interval.high)}"/>'
        dot = f'<circle cx="{self.place(interval.value or 0.0)}" cy="{middle:g}" r="3"/>'
        size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        return f'<svg class="whisker" {size} aria-hidden="true">{line}{dot}</svg>'
