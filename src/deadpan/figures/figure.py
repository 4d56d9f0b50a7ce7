"""A plot with its numbers, and the look all plots share.

matplotlib is used without pyplot, and its settings are put back after every drawing, so that a program
that plots for itself never notices us. The same data give the same bytes.
"""

from __future__ import annotations

import io
import logging
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
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
"""Inches: on a phone's screen the words of a plot this wide can still be read."""
LABELS = ("sarcastic", "sincere")
KOREAN_FONTS = ("Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", "Apple SD Gothic Neo", "Malgun Gothic")
FONT_STACK = "system-ui, 'Noto Sans', 'Noto Sans KR', 'Noto Sans CJK KR', 'NanumGothic', sans-serif"


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot and the numbers it shows.

    It is painted anew each time it is rendered: what matplotlib lays out depends on what it laid out before.
    """

    title: str
    table: Table
    height: float
    paint: Callable[[Any], None]

    def svg(self, *, titled: bool = False) -> str:
        """The plot as SVG, its words as text that can be searched and that takes the reader's fonts.

        Without its title, unless asked: a page says it in words of its own, which wrap on a phone.
        """
        raw = self._render("svg", titled=titled).decode("utf-8")
        body = raw[raw.index("<svg") :]
        # Font names depend on what is installed here; the reader's machine is another.
        body = re.sub(r"font-family: [^;\"]*", f"font-family: {FONT_STACK}", body)
        body = re.sub(r"(font: [^;\"]*?\dpx) [^;\"]*", rf"\1 {FONT_STACK}", body)
        body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
        return body.replace("<svg", '<svg style="stroke-linejoin: round"', 1)

    def png(self) -> bytes:
        """The plot as a picture, sharp on a dense screen and in print."""
        return self._render("png", titled=True)

    def save(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.svg and NAME.png, each whole or not at all; their paths."""
        vector, picture = Path(folder) / f"{name}.svg", Path(folder) / f"{name}.png"
        write_text(vector, self.svg(titled=True))
        with atomic(picture) as temporary:
            temporary.write_bytes(self.png())
        return vector, picture

    def _render(self, form: str, *, titled: bool) -> bytes:
        # No dates and no program names: the same data give the same bytes.
        metadata = {
            "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
            "png": {"Software": None},
        }[form]
        buffer = io.BytesIO()
        with _look():
            drawing = _sheet(self.height, self.title if titled else "")
            self.paint(drawing)
            drawing.savefig(buffer, format=form, dpi=200, metadata=metadata)
        return buffer.getvalue()


@contextmanager
def _look() -> Iterator[None]:
    """Our settings for a while, from matplotlib's defaults rather than from the user's own style."""
    matplotlib = need("matplotlib", "plots")
    with warnings.catch_warnings(), _quiet("matplotlib.font_manager"), matplotlib.rc_context():
        # Without a Korean font here the words still are in the SVG, for whoever reads it with one.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings())
        yield


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """matplotlib tells on the terminal which font it took for bold Korean; nobody asked."""
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
    """An empty figure. The title is a sentence, may take two lines and gets room of its own."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = textwrap.wrap(clean(title), 56)
    size = (WIDTH, height + 0.22 * len(lines))
    drawing = Drawing(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.06))
    if lines:
        drawing.suptitle("\n".join(lines), x=0.008, ha="left", fontsize=12, fontweight="bold")
    return drawing


def clean(text: object) -> str:
    """A label that SVG can hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", "\ufffd", printable(str(text)))


def hues(names: Sequence[str]) -> list[tuple[str, str]]:
    """For each name the colour of its shape and of its word. The two labels keep theirs in every plot."""
    others = cycle(SERIES)
    roles = [name if name in LABELS else next(others) for name in names]
    return [(LIGHT[role], LIGHT[f"{role}-text"]) for role in roles]


def word_of(name: str) -> str:
    return f"{MARKS[name]} {name}" if name in MARKS else clean(name)


def check_not_empty(values: Any, title: str) -> None:
    if not values:
        raise DataError(f"nothing to draw for {title!r}: there are no values")


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Names down the left side, the first on top."""
    axes.set_yticks(range(len(names)), [word_of(name) for name in names], color=LIGHT["ink"])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)


def thousands(value: float, _position: int = 0) -> str:
    """A tick's number as we write numbers: 12,000, not 12000 and not 1.2e4."""
    return f"{value:,.10g}".replace("-", "\u2212")
