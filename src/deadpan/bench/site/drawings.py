"""The site's drawings, as SVG that takes its colours from the page: whiskers, small multiples, a scatter."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from deadpan.bench.items import CATEGORIES, CHANCE
from deadpan.bench.site.board import Board, Entry
from deadpan.page.markup import escape
from deadpan.stats import Interval

WIDTH, HEIGHT, PAD = 176, 14, 5
LANGUAGES = {"en": "English", "ko": "Korean"}


def bar(interval: Interval) -> str:
    """An interval from 0 to 1, with chance as a broken line; the numbers stand beside it as text."""
    if interval.value is None:
        return ""
    middle = HEIGHT / 2
    parts = [
        f'<line class="ground" x1="{PAD}" x2="{WIDTH - PAD}" y1="{middle}" y2="{middle}"/>',
        f'<line class="chance" x1="{_at(CHANCE)}" x2="{_at(CHANCE)}" y1="1" y2="{HEIGHT - 1}"/>',
    ]
    if interval.low is not None and interval.high is not None:
        parts.append(
            f'<line x1="{_at(interval.low)}" x2="{_at(interval.high)}" y1="{middle}" y2="{middle}"/>'
        )
    parts.append(f'<circle cx="{_at(interval.value)}" cy="{middle}" r="3.5"/>')
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="bar" {size} preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _at(value: float) -> str:
    return f"{PAD + (WIDTH - 2 * PAD) * value:.1f}"


def multiples(board: Board) -> str:
    """One small drawing a category and a language, all on one scale, models in one order."""
    groups = [(name.replace("_", " "), "categories", name) for name in CATEGORIES]
    languages = sorted({name for entry in board.entries for name in entry.scores.languages})
    if len(languages) > 1:
        groups += [(LANGUAGES.get(name, name), "languages", name) for name in languages]
    drawn = []
    for title, kind, key in groups:
        found = [(entry, getattr(entry.scores, kind).get(key)) for entry in board.entries]
        shown = [(entry, value) for entry, value in found if value is not None and value.value is not None]
        if not shown:
            continue
        n = max(value.n for _, value in shown)
        rows = "".join(_multiple_row(entry, value) for entry, value in shown)
        drawn.append(
            f'<figure class="multiple"><figcaption>{escape(title)} <span>n = {n}</span></figcaption>'
            f"<ol>{rows}</ol></figure>"
        )
    return f'<div class="multiples">{"".join(drawn)}</div>'


def _multiple_row(entry: Entry, value: Interval) -> str:
    aside = "" if entry.kind == "model" else ' class="aside"'
    interval = ""
    if value.low is not None and value.high is not None:
        interval = f'<span class="sr"> from {value.low:.2f} to {value.high:.2f}</span>'
    return (
        f'<li{aside}><span title="{escape(entry.name)}">{escape(entry.name)}</span>{bar(value)}'
        f"<b>{value.value:.2f}{interval}</b></li>"
    )


# ---------------------------------------------------------------- cost against accuracy

W, H, LEFT, RIGHT, TOP, BOTTOM = 640, 340, 46, 20, 18, 46


def cost_scatter(board: Board) -> str:
    """Accuracy over dollars for the whole run, on a logarithmic axis; what costs nothing stands left."""
    known = [entry for entry in board.entries if entry.kind != "human" and entry.scores.cost is not None]
    if not known:
        return '<p class="empty">No run has a known price.</p>'
    paid = [entry.scores.cost or 0.0 for entry in known if entry.scores.cost]
    low = math.floor(math.log10(min(paid))) if paid else -2
    high = math.ceil(math.log10(max(paid))) if paid else 0
    high = max(high, low + 1)
    free = any(not entry.scores.cost for entry in known)
    start = LEFT + (90 if free else 10)

    def x(cost: float) -> float:
        if not cost:
            return LEFT + 34
        return start + (W - RIGHT - 90 - start) * (math.log10(cost) - low) / (high - low)

    def y(value: float) -> float:
        return TOP + (H - TOP - BOTTOM) * (1 - value)

    parts = ['<g class="axis">']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{W - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
        )
        parts.append(f'<text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
    if paid:
        for power in range(low, high + 1):
            place = f'x="{x(10**power):.1f}" y="{H - BOTTOM + 18}"'
            parts.append(f'<text {place} text-anchor="middle">${10**power:g}</text>')
    if free:
        parts.append(f'<text x="{LEFT + 34}" y="{H - BOTTOM + 18}" text-anchor="middle">free</text>')
    parts.append(f'<text x="{LEFT}" y="{H - 6}">US dollars for the whole run (logarithmic)</text></g>')
    parts.append(
        f'<line class="chance" x1="{LEFT}" x2="{W - RIGHT}" y1="{y(CHANCE):.1f}" y2="{y(CHANCE):.1f}"/>'
    )
    parts += _points([(x(e.scores.cost or 0.0), y(e.scores.avg.value or 0.0), e) for e in known], y)
    label = "Accuracy against cost; the same numbers stand in the table above"
    return (
        f'<svg class="scatter" viewBox="0 0 {W} {H}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


PLACES = (
    (9, 4, "start"),
    (-9, 4, "end"),
    (9, -9, "start"),
    (9, 17, "start"),
    (-9, -9, "end"),
    (-9, 17, "end"),
)
"""Where a name may stand beside its dot, best first."""
LETTER = 6.7


def _points(points: Sequence[tuple[float, float, Entry]], y: Callable[[float], float]) -> list[str]:
    """Dots with whiskers and names; a name stands where it covers no dot and no other name.

    Baselines lie on one another at chance, for nothing: they share one name.
    """
    parts, taken = [], [(px - 5, px + 5, py - 5, py + 5) for px, py, _ in points]
    named = False
    for px, py, entry in sorted(points, key=lambda point: -point[1]):
        avg = entry.scores.avg
        aside = "" if entry.kind == "model" else ' class="aside"'
        line = ""
        if avg.low is not None and avg.high is not None:
            line = (
                f'<line class="whisker-line" x1="{px:.1f}" x2="{px:.1f}" '
                f'y1="{y(avg.low):.1f}" y2="{y(avg.high):.1f}"/>'
            )
        name = entry.name
        if entry.kind == "baseline":
            name, named = "" if named else "baselines", True
        text = ""
        if name:
            dx, dy, anchor = _free_place(px, py, len(name) * LETTER, taken)
            text = f'<text x="{px + dx:.1f}" y="{py + dy:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
        parts.append(f'<g{aside}>{line}<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5"/>{text}</g>')
    return parts


def _free_place(
    px: float, py: float, width: float, taken: list[tuple[float, float, float, float]]
) -> tuple[float, float, str]:
    """The first place whose box is free; if none is, the one above all that is there."""
    for dx, dy, anchor in PLACES:
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
