"""A drawing of what each word of a text pushes towards: a bar to the left or to the right."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from deadpan.palette import LIGHT
from deadpan.text import printable

_HEIGHT, BARS, NUMBER = 24, 280, 60
LONGEST_NAME = 24
_LETTER = 8.5
"""Width of an average letter at 14 pixels, rounded up; names are set aside as much room as they need."""


def influence_chart(pieces: Sequence[tuple[str, float]], sides: tuple[str, str] = ("sincere", "sarcastic")) -> str:
    """Return the chart of (text, push) pieces; `sides` names the left and the right."""
    largest = max(0.5, *(abs(push) for _, push in pieces))
    names = [_name(text) for text, _ in pieces]
    label = 16 + max(40, round(_LETTER * max(map(_width, names), default=0)))
    middle, half, width = label + BARS / 2, BARS / 2 - NUMBER, label + BARS
    bars = [
        _bar(name, push, place * _HEIGHT, label, (middle, half * abs(push) / largest))
        for place, (name, (_, push)) in enumerate(zip(names, pieces, strict=True))
    ]
    bottom = len(pieces) * _HEIGHT
    words = "".join(
        f'<text x="{at}" y="{bottom + 20}" text-anchor="{side}" style="fill: {LIGHT[role]}">{mark}</text>'
        for at, side, role, mark in (
            (middle - 8, "end", "sincere-text", f"● {escape(sides[0])}"),
            (middle + 8, "start", "sarcastic-text", f"▲ {escape(sides[1])}"),
        )
    )
    axis = f'<path d="M{middle} 0V{bottom}" style="stroke: {LIGHT["rule"]}"/>{words}'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 30}" width="{width}" '
        f'style="font: 14px system-ui, sans-serif; min-width: 0; max-width: {width}px">'
        f"{axis}{''.join(bars)}</svg>"
    )


def _name(text: str) -> str:
    return printable(text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…")


def _width(name: str) -> float:
    """Return the width in letters; one of Korean, Chinese or Japanese counts twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)


def _bar(name: str, push: float, y: int, label: int, drawn: tuple[float, float]) -> str:
    middle, length = drawn
    left = middle if push > 0 else middle - length
    hue = LIGHT["sarcastic" if push > 0 else "sincere"]
    side, at = ("start", middle + length + 6) if push > 0 else ("end", middle - length - 6)
    return (
        f'<text x="{label - 8}" y="{y + 16}" text-anchor="end" style="fill: {LIGHT["ink"]}">'
        f"{escape(name)}</text>"
        f'<rect x="{left:.1f}" y="{y + 4}" width="{length:.1f}" height="{_HEIGHT - 8}" style="fill: {hue}"/>'
        f'<text x="{at:.1f}" y="{y + 16}" text-anchor="{side}" style="fill: {LIGHT["muted"]}">'
        f"{push:+.2f}</text>"
    )
