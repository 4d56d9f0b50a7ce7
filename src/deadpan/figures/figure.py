"""A plot with its numbers, and the style that all plots share.

matplotlib is used without pyplot, and its settings are restored after every drawing, so that other plots
of a program are not affected. The same data give the same bytes.
"""

from __future__ import annotations

import io
import logging
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from deadpan.errors import DataError, need
from deadpan.page.table import Table
from deadpan.palette import LIGHT, MARKS, SERIES
from deadpan.storage import atomic, write_text
from deadpan.text import printable

WIDTH = 5.6
"""Inches: text in a plot of this width is readable on a phone."""
# Letters of a name beside a plot; longer ones have two lines.
_LONGEST_NAME = 30
LABELS = ("sarcastic", "sincere")
KOREAN_FONTS = ("Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", "Apple SD Gothic Neo", "Malgun Gothic")
FONT_STACK = "system-ui, 'Noto Sans', 'Noto Sans KR', 'Noto Sans CJK KR', 'NanumGothic', sans-serif"


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot and the table of its numbers.

    It is redrawn each time it is rendered, since matplotlib's layout depends on earlier layouts.
    """

    title: str
    table: Table
    height: float
    paint: Callable[[Any], None]

    def svg(self, *, titled: bool = False) -> str:
        """Return the plot as SVG, with text that can be searched and uses the reader's fonts.

        Without its title unless `titled`: a page has the title as text, which wraps on a phone.
        """
        raw = self._render("svg", titled=titled).decode("utf-8")
        body = raw[raw.index("<svg") :]
        # The fonts installed here need not be on the reader's machine.
        body = re.sub(r"font-family: [^;\"]*", f"font-family: {FONT_STACK}", body)
        body = re.sub(r"(font: [^;\"]*?\dpx) [^;\"]*", rf"\1 {FONT_STACK}", body)
        body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
        return body.replace("<svg", '<svg style="stroke-linejoin: round"', 1)

    def png(self) -> bytes:
        """Return the plot as PNG, at 200 dots per inch."""
        return self._render("png", titled=True)

    def save(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.svg and NAME.png, and return their paths."""
        vector, picture = Path(folder) / f"{name}.svg", Path(folder) / f"{name}.png"
        write_text(vector, self.svg(titled=True))
        with atomic(picture) as temporary:
            temporary.write_bytes(self.png())
        return vector, picture

    def _render(self, form: str, *, titled: bool) -> bytes:
        # No dates and no program names: the same data give the same bytes.
        metadata = {"svg": dict.fromkeys(("Date", "Creator", "Format", "Type")), "png": {"Software": None}}[form]
        buffer = io.BytesIO()
        with _look():
            drawing = _sheet(self.height, self.title if titled else "")
            self.paint(drawing)
            drawing.savefig(buffer, format=form, dpi=200, metadata=metadata)
        return buffer.getvalue()


@contextmanager
def _look() -> Iterator[None]:
    """Apply our settings on top of matplotlib's defaults, ignoring the user's own style."""
    matplotlib = need("matplotlib", "plots")
    with warnings.catch_warnings(), _quiet("matplotlib.font_manager"), matplotlib.rc_context():
        # Without a Korean font here the text is still in the SVG.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings())
        yield


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """Silence a logger: matplotlib reports on the terminal which font it uses for bold Korean."""
    log = logging.getLogger(logger)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _settings() -> dict[str, Any]:
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return {
        "font.family": ["DejaVu Sans", *(name for name in KOREAN_FONTS if name in installed)],
        "font.size": 10,
        "text.color": LIGHT["ink"],
        "text.parse_math": False,  # a dollar sign in a label is a dollar sign
        "axes.edgecolor": LIGHT["muted"],
        "axes.labelcolor": LIGHT["muted"],
        "axes.facecolor": LIGHT["ground"],
        "axes.unicode_minus": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.facecolor": LIGHT["ground"],
        "grid.color": LIGHT["rule"],
        "grid.linewidth": 0.6,
        "xtick.color": LIGHT["muted"],
        "ytick.color": LIGHT["muted"],
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "svg.fonttype": "none",
        "svg.hashsalt": "deadpan",
    }


def _sheet(height: float, title: str) -> Any:
    """Return an empty figure with space for the title, a sentence of one or more lines."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = textwrap.wrap(clean(title), 56)
    size = (WIDTH, height + 0.22 * len(lines))
    drawing = Drawing(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.06))
    if lines:
        drawing.suptitle("\n".join(lines), x=0.008, ha="left", fontsize=12, fontweight="bold")
    return drawing


def clean(text: object) -> str:
    """Return a label without characters that SVG cannot hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", "\ufffd", printable(str(text)))


def hues(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the colours of each name's shape and text. The two labels always have the same colours."""
    others = cycle(SERIES)
    roles = [name if name in LABELS else next(others) for name in names]
    return [(LIGHT[role], LIGHT[f"{role}-text"]) for role in roles]


def word_of(name: str) -> str:
    """Return a name with its mark: the shape that goes with its colour."""
    return f"{MARKS[name]} {name}" if name in MARKS else clean(name)


def check_not_empty(values: Any, title: str) -> None:
    """Raise an error if there is nothing to draw."""
    if not values:
        raise DataError(f"nothing to draw for {title!r}: there are no values")


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Write names down the left side, the first on top."""
    axes.set_yticks(range(len(names)), [two_lines(word_of(name)) for name in names], color=LIGHT["ink"])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)


def two_lines(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a long text as two lines; where they are too long as well, the middle is left out."""
    if len(text) <= longest or "\n" in text:
        return text
    inside = list(enumerate(text))[1:-1]
    breaks = [at + 1 for at, letter in inside if letter == " "]
    breaks = breaks or [at + 1 for at, letter in inside if letter in "-_/,:"]
    at = min(breaks, key=lambda place: abs(place - len(text) / 2), default=len(text) // 2)
    first, second = text[:at].rstrip(), text[at:].lstrip()
    first = first if len(first) <= longest else f"{first[: longest - 1]}…"
    return f"{first}\n{second if len(second) <= longest else '…' + second[1 - longest :]}"


def whole(values: Iterable[object]) -> bool:
    """Return True if all values are whole numbers: counts, whose axes have no fractional ticks."""
    return all(isinstance(value, int | float) and float(value).is_integer() for value in values)


def thousands(value: float, _position: int = 0) -> str:
    """Return the number of a tick with thousands separators, never in scientific notation."""
    return f"{value:,.10g}".replace("-", "\u2212")
