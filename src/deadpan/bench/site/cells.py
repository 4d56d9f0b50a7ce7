"""Cells of the leaderboard's tables: text, numbers to sort by, scores with their intervals."""

from __future__ import annotations

from deadpan.bench.site.drawings import bar
from deadpan.page.markup import escape
from deadpan.stats import Interval


def cell(kind: str, text: str, value: float | None, *notes: str) -> str:
    """Return a cell; `value` is what it is sorted by."""
    data = "" if value is None else f' data-v="{value:.6g}"'
    return f'<td class="{kind}"{data}>{escape(text)}{"".join(map(small, notes))}</td>'


def small(text: str) -> str:
    """Return a note below a cell's text; nothing for no text."""
    return f"<small>{escape(text)}</small>" if text else ""


def score_cell(interval: Interval, note: str = "", chance: float | None = None) -> str:
    """Return a score with its interval; with `chance`, also as a drawing."""
    if interval.value is None:
        return '<td class="n">–</td>'
    places = 2 if chance is None else 3
    around = ""
    if interval.low is not None and interval.high is not None:
        around = f"<small>[{interval.low:.{places}f}, {interval.high:.{places}f}]</small>"
    drawn = "" if chance is None else bar(interval, chance)
    return (
        f'<td class="n" data-v="{interval.value:.6g}"><b>{interval.value:.{places}f}</b>{around}{drawn}'
        f"{small(note)}</td>"
    )
