"""Tables: numbers right-aligned, intervals with a whisker and n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.errors import DataError
from deadpan.page.markup import escape, safe_href
from deadpan.page.numbers import bounds, digits, number
from deadpan.results import Interval

WIDTH, HEIGHT, MARGIN = 120, 14, 4
"""The size of a whisker, in SVG units."""
_SENTENCE = 60
"""Characters from which the text of a cell is a sentence."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell with a link."""

    text: str
    href: str


Cell = str | int | float | bool | Interval | Link | None


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Columns and rows of cells, shown on a terminal, in a notebook and on a page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""

    def __post_init__(self) -> None:
        for place, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise DataError(
                    f"row {place} of a table has {len(row)} cells for the {len(self.columns)} columns "
                    f"{', '.join(self.columns)}"
                )

    def __repr__(self) -> str:
        title = f"{self.title!r}, " if self.title else ""
        return f"Table({title}{len(self.columns)} columns, {len(self.rows):,} rows)"

    def __str__(self) -> str:
        from deadpan.page.summary import render_text  # it imports this module

        return render_text(self)

    def _repr_html_(self) -> str:
        return render_table(self, self.title)


def with_counts(table: Table) -> Table:
    """Return the table with a column n if it has scores but no such column."""
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
    return Table(tuple(columns), tuple(tuple(row) for row in rows), table.title)


def _count(cells: Sequence[Cell]) -> Cell:
    return next((cell.n for cell in cells if isinstance(cell, Interval)), None)


def _scores(table: Table, column: int) -> list[Interval]:
    return [cell for row in table.rows if isinstance(cell := row[column], Interval)]


def render_table(
    table: Table,
    caption: str = "",
    numeric: Sequence[str] = (),
    *,
    label: str = "",
    source: str | Sequence[str] = "",
    sortable: bool = False,
) -> str:
    """Return the table as HTML; `numeric` names columns of numbers that are passed as text.

    With `source` every number links there, to where it comes from: one address, or one per row. `label` names
    the table for screen readers where it has no caption. `sortable` makes the headings buttons, for pages
    that have the script which sorts.
    """
    table = with_counts(table)
    if not table.rows:
        return '<p class="empty">Nothing to show: no rows.</p>'
    right = [name in numeric or _is_numeric(table, i) for i, name in enumerate(table.columns)]
    scales = [_Scale.of(_scores(table, i)) for i in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{_class(side)}>{_heading(name, sortable)}{scale.caption() if scale else ""}</th>'
        for name, side, scale in zip(table.columns, right, scales, strict=True)
    )
    sources = [source] * len(table.rows) if isinstance(source, str) else source
    body = "\n".join(
        f"<tr>{_row(row, right, scales, where, sortable)}</tr>" for row, where in zip(table.rows, sources, strict=True)
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    name = escape(caption or label or f"Table of {table.columns[0]}")
    kind, status = (' class="sortable"', '<p class="sr" role="status"></p>') if sortable else ("", "")
    # A table wider than the screen scrolls; the tabindex makes it scroll by keyboard too.
    return (
        f'<div class="table" role="region" aria-label="{name}" tabindex="0"><table{kind}>{title}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>{status}</div>"
    )


def _heading(name: str, sortable: bool) -> str:
    return f'<button type="button">{escape(name)}</button>' if sortable and name else escape(name)


def _row(
    row: Sequence[Cell], right: Sequence[bool], scales: Sequence[_Scale | None], source: str, sortable: bool
) -> str:
    cells = [
        (
            f"{_class(side) or _long(cell)}{_sort_key(cell) if sortable else ''}",
            _sourced(cell, _cell(cell, scale), source, side) or '<span class="dim">–</span>',
        )
        for cell, side, scale in zip(row, right, scales, strict=True)
    ]
    first, *others = [
        f'<th scope="row"{kind}>{text}</th>' if place == 0 else f"<td{kind}>{text}</td>"
        for place, (kind, text) in enumerate(cells)
    ]
    return "".join([first, *others])


def _sort_key(cell: Cell) -> str:
    """Return the attribute a column is sorted by; none for an empty cell."""
    value = cell.value if isinstance(cell, Interval) else cell.text if isinstance(cell, Link) else cell
    return "" if value is None else f' data-v="{escape(value)}"'


def _sourced(cell: Cell, text: str, source: str, right: bool) -> str:
    """Return a number as a link to its source."""
    is_number = isinstance(cell, int | float | Interval) and not isinstance(cell, bool)
    if not source or not text or not (is_number or (right and isinstance(cell, str))):
        return text
    if isinstance(cell, Interval) and cell.value is None:
        return text
    return f'<a class="source" href="{safe_href(source)}">{text}</a>'


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


def _long(cell: Cell) -> str:
    """Return the class of a cell with a sentence in it, which needs room on a narrow screen."""
    return ' class="long"' if isinstance(cell, str) and len(cell) > _SENTENCE else ""


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
    """The scale of a column's whiskers, the same in every row."""

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
            # No room above 1 for a share or a coefficient, which cannot reach it.
            low, high = low - 0.5, high + (0.5 if high > 1 else min(0.5, 1 - high))
        return cls(low, high, digits(intervals))

    def place(self, value: float) -> str:
        return f"{MARGIN + (WIDTH - 2 * MARGIN) * (value - self.low) / (self.high - self.low):.1f}"

    def caption(self) -> str:
        """Return the ends of the whiskers' scale."""
        low, high = f"{self.low:z.{self.decimals}f}", f"{self.high:z.{self.decimals}f}"
        return f'<span class="scale" aria-hidden="true"><span>{low}</span><span>{high}</span></span>'

    def whisker(self, interval: Interval) -> str:
        """Return the interval as a line and the value as a dot; the numbers are beside it as text."""
        middle = HEIGHT / 2
        line = ""
        if interval.low is not None and interval.high is not None:
            line = f'<path d="M{self.place(interval.low)} {middle:g}H{self.place(interval.high)}"/>'
        dot = f'<circle cx="{self.place(interval.value or 0.0)}" cy="{middle:g}" r="3"/>'
        size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        return f'<svg class="whisker" {size} aria-hidden="true">{line}{dot}</svg>'
