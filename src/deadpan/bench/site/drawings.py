"""Drawings of the site as SVG in the colours of the page: intervals, small multiples, a scatter plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from deadpan.bench.items.item import CATEGORIES
from deadpan.bench.site.board import Board, BoardEntry
from deadpan.page.markup import escape
from deadpan.page.numbers import digits
from deadpan.stats import Interval

_WIDTH, _HEIGHT, _PAD = 176, 14, 5


def bar(interval: Interval, chance: float) -> str:
    """Draw an interval on an axis from chance to 1; what is below chance is at its left end, as text says."""
    if interval.value is None:
        return ""
    middle = _HEIGHT / 2

    def at(value: float) -> str:
        return f"{_PAD + (_WIDTH - 2 * _PAD) * max(0.0, value - chance) / (1 - chance):.1f}"

    parts = [
        f'<line class="ground" x1="{_PAD}" x2="{_WIDTH - _PAD}" y1="{middle}" y2="{middle}"/>',
        *(f'<line class="end" x1="{x}" x2="{x}" y1="2" y2="{_HEIGHT - 2}"/>' for x in (_PAD, _WIDTH - _PAD)),
    ]
    if interval.low is not None and interval.high is not None:
        parts.append(f'<line x1="{at(interval.low)}" x2="{at(interval.high)}" y1="{middle}" y2="{middle}"/>')
    parts.append(f'<circle cx="{at(interval.value)}" cy="{middle}" r="3.5"/>')
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg class="bar" {size} preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def multiples(board: Board) -> str:
    """Draw one small chart per category, on one scale, models in one order."""
    drawn = []
    for name in CATEGORIES:
        title = name.replace("_", " ")
        found = [(entry, entry.scores.categories.get(name)) for entry in board.entries]
        shown = [(entry, value) for entry, value in found if value is not None and value.value is not None]
        if not shown:
            continue
        n = max(value.n for _, value in shown)
        places = digits(value for _, value in shown)
        rows = "".join(_multiple_row(entry, value, places) for entry, value in shown)
        drawn.append(
            f'<figure class="multiple"><figcaption>{escape(title)} <span>n = {n}</span></figcaption>'
            f"<ol>{rows}</ol></figure>"
        )
    return f'<div class="multiples">{"".join(drawn)}</div>'


def _multiple_row(entry: BoardEntry, value: Interval, places: int) -> str:
    aside = "" if entry.kind == "model" else ' class="aside"'
    interval = ""
    if value.low is not None and value.high is not None:
        interval = f'<span class="sr"> from {value.low:.{places}f} to {value.high:.{places}f}</span>'
    drawn = bar(value, entry.scores.chance)
    return (
        f'<li{aside}><span title="{escape(entry.name)}">{escape(entry.name)}</span>{drawn}'
        f"<b>{value.value:.{places}f}{interval}</b></li>"
    )


# ---------------------------------------------------------------- accuracy against cost and tokens

W, H, LEFT, RIGHT, _TOP, BOTTOM = 640, 340, 46, 20, 18, 46


def cost_scatter(board: Board) -> str:
    """Draw accuracy against the cost of a whole run, on a logarithmic axis; free runs are at the left."""
    known = [(entry, entry.scores.cost) for entry in board.entries if entry.kind != "human"]
    priced = [(entry, cost) for entry, cost in known if cost is not None]
    if not priced:
        return '<p class="empty">No run has a known price.</p>'
    return _scatter(board, priced, "US dollars for the whole run", "free", "${:g}", "cost")


def token_scatter(board: Board) -> str:
    """Draw accuracy against the tokens written per answer; a rule writes none and is at the left."""
    asked = [entry for entry in board.entries if entry.kind != "human"]
    if not asked:
        return '<p class="empty">No model has been asked.</p>'
    written = [
        (entry, 0.0 if entry.kind == "baseline" else entry.scores.output_tokens / entry.scores.rows) for entry in asked
    ]
    return _scatter(board, written, "tokens written per answer", "none", "{:g}", "tokens")


def _scatter(
    board: Board, known: Sequence[tuple[BoardEntry, float]], unit: str, nothing: str, tick: str, against: str
) -> str:
    paid = [value for _, value in known if value]
    low = math.floor(math.log10(min(paid))) if paid else -2
    high = math.ceil(math.log10(max(paid))) if paid else 0
    high = max(high, low + 1)
    free = len(paid) < len(known)
    start = LEFT + (90 if free else 10)

    def x(value: float) -> float:
        if not value:
            return LEFT + 34
        return start + (W - RIGHT - 90 - start) * (math.log10(value) - low) / (high - low)

    def y(value: float) -> float:
        return _TOP + (H - _TOP - BOTTOM) * (1 - value)

    parts = _axis(y)
    if paid:
        for power in range(low, high + 1):
            place = f'x="{x(10**power):.1f}" y="{H - BOTTOM + 18}"'
            parts.append(f'<text {place} text-anchor="middle">{tick.format(10**power)}</text>')
    if free:
        parts.append(f'<text x="{LEFT + 34}" y="{H - BOTTOM + 18}" text-anchor="middle">{nothing}</text>')
    parts.append(f'<text x="{LEFT}" y="{H - 6}">{unit} (logarithmic)</text></g>')
    level = f"{y(board.chance):.1f}"
    parts.append(f'<line class="chance" x1="{LEFT}" x2="{W - RIGHT}" y1="{level}" y2="{level}"/>')
    parts += _points([(x(value), y(entry.scores.avg.value or 0.0), entry) for entry, value in known], y)
    label = f"Accuracy against {against}; the same numbers are in the table above"
    return f'<svg class="scatter" viewBox="0 0 {W} {H}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _axis(y: Callable[[float], float]) -> list[str]:
    parts = ['<g class="axis">']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{W - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
    return parts


_PLACES = ((9, 4, "start"), (-9, 4, "end"), (9, -9, "start"), (9, 17, "start"), (-9, -9, "end"), (-9, 17, "end"))
"""Positions of a name beside its dot, best first."""
_LETTER = 6.7


def _points(points: Sequence[tuple[float, float, BoardEntry]], y: Callable[[float], float]) -> list[str]:
    """Draw dots with intervals and names; a name covers no dot and no other name.

    Baselines are all free and at chance, so they share one name.
    """
    parts, taken = [], [(px - 5, px + 5, py - 5, py + 5) for px, py, _ in points]
    named = False
    for px, py, entry in sorted(points, key=lambda point: -point[1]):
        avg = entry.scores.avg
        aside = "" if entry.kind == "model" else ' class="aside"'
        line = ""
        if avg.low is not None and avg.high is not None:
            line = (
                f'<line class="whisker-line" x1="{px:.1f}" x2="{px:.1f}" y1="{y(avg.low):.1f}" y2="{y(avg.high):.1f}"/>'
            )
        name = entry.name
        if entry.kind == "baseline":
            name, named = "" if named else "baselines", True
        text = ""
        if name:
            dx, dy, anchor = _free_place(px, py, len(name) * _LETTER, taken)
            text = f'<text x="{px + dx:.1f}" y="{py + dy:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
        parts.append(f'<g{aside}>{line}<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5"/>{text}</g>')
    return parts


def _free_place(
    px: float, py: float, width: float, taken: list[tuple[float, float, float, float]]
) -> tuple[float, float, str]:
    """Return the first free position; if there is none, one above everything."""
    for dx, dy, anchor in _PLACES:
        left = px + dx if anchor == "start" else px + dx - width
        box = (left, left + width, py + dy - 10, py + dy + 3)
        inside = left >= LEFT and left + width <= W
        if inside and not any(_cross(box, other) for other in taken):
            taken.append(box)
            return dx, dy, anchor
    taken.append((px, px + width, py - 34, py - 21))
    return 9, -24, "start"


def _cross(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
