"""Cells of the leaderboard's tables: text, numbers to sort by, scores with their intervals."""

from __future__ import annotations

from deadpan.bench.site.drawings import bar
from deadpan.page.markup import escape
from deadpan.page.numbers import bounds, digits
from deadpan.stats import Interval


def cell(kind: str, text: str, value: float | None, *notes: str) -> str:
    """Return a cell; `value` is what it is sorted by."""
    data = "" if value is None else f' data-v="{value:.6g}"'
    return f'<td class="{kind}"{data}>{escape(text)}{"".join(map(small, notes))}</td>'


def small(text: str) -> str:
    """Return a note below a cell's text; nothing for no text."""
    return f"<small>{escape(text)}</small>" if text else ""


def score_cell(interval: Interval, note: str = "", chance: float | None = None, decimals: int | None = None) -> str:
    """Return a score with its interval; with `chance`, also as a drawing; `decimals` are its column's.

    Each line of the note is a line of the cell: a long one would widen the column.
    """
    if interval.value is None:
        return '<td class="n">–</td>'
    places = digits([interval]) if decimals is None else decimals
    around = small(bounds(interval, places))
    drawn = "" if chance is None else bar(interval, chance)
    return (
        f'<td class="n" data-v="{interval.value:.6g}"><b>{interval.value:.{places}f}</b>{around}{drawn}'
        f"{''.join(map(small, note.splitlines()))}</td>"
    )
