"""One look for every plot. The title says the finding, the axes say the unit, labels stand by what they name.

matplotlib is used without pyplot, and its settings are put back after every drawing, so that a program
that plots for itself never notices us. The same data give the same bytes.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.errors import DataError, need
from deadpan.page.numbers import digits, number, score
from deadpan.page.table import Cell, Table
from deadpan.palette import LIGHT, MARKS, SERIES
from deadpan.stats import Bin, Interval, wilson
from deadpan.storage import atomic, write_text
from deadpan.text import printable

WIDTH = 6.6
"""Inches: about the 72 characters a line of text has."""
KOREAN_FONTS = ("Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", "Apple SD Gothic Neo", "Malgun Gothic")
FONT_STACK = "system-ui, 'Noto Sans', 'Noto Sans KR', 'Noto Sans CJK KR', 'NanumGothic', sans-serif"
# Not LIGHT's white and ink, which a dark page turns round: these stand on a cell whose colour stays.
ON_DARK_CELL, ON_LIGHT_CELL = "#fefefe", "#1c1f25"
CELLS = ("#f1f5f3", "#8fc7b3", "#00503a")
"""From little to much, one hue, evenly darker."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot and the numbers it shows."""

    title: str
    table: Table
    drawing: Any

    def svg(self) -> str:
        """The plot as SVG, its words as text that can be searched and that takes the reader's fonts."""
        raw = self._render("svg").decode("utf-8")
        body = raw[raw.index("<svg") :]
        # Font names depend on what is installed here; the reader's machine is another.
        body = re.sub(r"font-family: [^;\"]*", f"font-family: {FONT_STACK}", body)
        body = re.sub(r"(font: [^;\"]*?\dpx) [^;\"]*", rf"\1 {FONT_STACK}", body)
        body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
        return body.replace("<svg", '<svg style="stroke-linejoin: round"', 1)

    def png(self) -> bytes:
        """The plot as a picture, sharp on a dense screen and in print."""
        return self._render("png")

    def save(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.svg and NAME.png, each whole or not at all; their paths."""
        vector, picture = Path(folder) / f"{name}.svg", Path(folder) / f"{name}.png"
        write_text(vector, self.svg())
        with atomic(picture) as temporary:
            temporary.write_bytes(self.png())
        return vector, picture

    def _render(self, form: str) -> bytes:
        # No dates and no program names: the same data give the same bytes.
        metadata = {
            "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
            "png": {"Software": None},
        }[form]
        buffer = io.BytesIO()
        with _look():
            self.drawing.savefig(buffer, format=form, dpi=200, metadata=metadata)
        return buffer.getvalue()


@contextmanager
def _look() -> Iterator[None]:
    """Our settings for a while, from matplotlib's defaults rather than from the user's own style."""
    matplotlib = need("matplotlib", "plots")
    with warnings.catch_warnings(), matplotlib.rc_context():
        # Without a Korean font here the words still are in the SVG, for whoever reads it with one.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings())
        yield


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


def _sheet(title: str, height: float) -> Any:
    """An empty figure with its title, which is a sentence and may take two lines."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(WIDTH, height), layout="constrained")
    drawing.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr]
    lines = textwrap.fill(_clean(title), 66)
    drawing.suptitle(lines, x=0.012, ha="left", fontsize=12, fontweight="bold")
    return drawing


def _clean(text: object) -> str:
    """A label that SVG can hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", "\ufffd", printable(str(text)))


def _hues(names: Sequence[str]) -> list[tuple[str, str]]:
    """For each name the colour of its shape and of its word. The two labels keep theirs in every plot."""
    others = iter(SERIES * (1 + len(names) // len(SERIES)))
    return [
        (LIGHT[name], LIGHT[f"{name}-text"]) if f"{name}-text" in LIGHT else (next(others), LIGHT["ink"])
        for name in names
    ]


def _word(name: str) -> str:
    return f"{MARKS[name]} {name}" if name in MARKS else _clean(name)


def _something(values: Any, title: str) -> None:
    if not values:
        raise DataError(f"nothing to draw for {title!r}: there are no values")


# ---------------------------------------------------------------- plots


def bars(title: str, values: Mapping[str, float], *, unit: str) -> Figure:
    """How much of each: bars from zero, longest words to the left, the number at the end of its bar."""
    _something(values, title)
    names = list(values)
    with _look():
        drawing = _sheet(title, 1.15 + 0.32 * len(names))
        axes = drawing.subplots()
        colours = [LIGHT[n] if f"{n}-text" in LIGHT else LIGHT["accent"] for n in names]
        axes.barh(range(len(names)), list(values.values()), height=0.62, color=colours)
        for place, value in enumerate(values.values()):
            ends = {"xytext": (4 if value >= 0 else -4, 0), "textcoords": "offset points"}
            side = "left" if value >= 0 else "right"
            axes.annotate(number(value), (value, place), ha=side, va="center", **ends)
        _rows(axes, names)
        axes.margins(x=0.12)
        axes.set_xlabel(_clean(unit), loc="left")
    return Figure(title, Table(("", unit), tuple(values.items())), drawing)


def distribution(title: str, values: Mapping[str, Sequence[float]], *, unit: str, bins: int = 24) -> Figure:
    """How two labels (or more) lie along a measure, each as a share of its own, so that sizes do not matter."""
    _something(values and all(len(group) for group in values.values()), title)
    import numpy as np

    edges = _edges([number for group in values.values() for number in group], bins)
    counts = {name: np.histogram(group, edges)[0] for name, group in values.items()}
    shares = {name: 100 * each / max(each.sum(), 1) for name, each in counts.items()}
    with _look():
        drawing = _sheet(title, 3.4)
        axes = drawing.subplots()
        tops = _label_places(list(shares.values()))
        for (name, share), hue, (bin_, lift) in zip(shares.items(), _hues(list(values)), tops, strict=True):
            axes.stairs(share, edges, color=hue[0], linewidth=1.8, label=name)
            axes.stairs(share, edges, color=hue[0], fill=True, alpha=0.12)
            middle = (edges[bin_] + edges[bin_ + 1]) / 2
            words = f"{_word(name)}, n = {len(values[name]):,}"
            at = (middle - edges[0]) / (edges[-1] - edges[0])
            side = "left" if at < 0.2 else "right" if at > 0.8 else "center"
            axes.annotate(
                words, (middle, share[bin_] + lift), xytext=(0, 5), textcoords="offset points",
                ha=side, color=hue[1], fontweight="bold",
            )  # fmt: skip
        axes.set_ylim(0, 1.25 * max(float(share.max()) for share in shares.values()))
        axes.set_xlabel(_clean(unit), loc="left")
        axes.set_ylabel("% of the label's examples")
        axes.grid(axis="y")
    rows = [
        (float(low), float(high), *(int(each[i]) for each in counts.values()))
        for i, (low, high) in enumerate(zip(edges[:-1], edges[1:], strict=True))
    ]
    return Figure(title, Table((f"{unit}, from", "to", *values), tuple(rows)), drawing)


def _edges(numbers: Sequence[float], bins: int) -> Any:
    """Bin edges for all groups; one bin a whole number where there are few of them."""
    import numpy as np

    low, high = min(numbers), max(numbers)
    if all(float(each).is_integer() for each in numbers) and high - low < 2 * bins:
        return np.arange(low, high + 2) - 0.5
    return np.linspace(low, high if high > low else low + 1, bins + 1)


def _label_places(shares: Sequence[Any]) -> list[tuple[int, float]]:
    """For each curve the bin where it rises most above the others, and how far to lift its label there."""
    import numpy as np

    top = max(float(share.max()) for share in shares)
    places: list[tuple[int, float]] = []
    for index, share in enumerate(shares):
        others = [other for i, other in enumerate(shares) if i != index]
        rise = share - (np.max(others, axis=0) if others else 0)
        bin_, lift = int(np.argmax(rise)), 0.0
        for other_bin, other_lift in places:
            beside = abs(other_bin - bin_) < 0.35 * len(share)
            gap = shares[len(places) - 1][other_bin] + other_lift - share[bin_]
            if beside and abs(gap) < 0.1 * top:
                lift = gap + 0.1 * top
        places.append((bin_, lift))
    return places


def whiskers(
    title: str, scores: Mapping[str, Interval], *, unit: str, mark: tuple[str, float] | None = None
) -> Figure:
    """Scores with their intervals, one a row. `mark` draws a line to compare with, such as ("chance", 0.5)."""
    _something(scores, title)
    names = list(scores)
    decimals = digits(scores.values())
    with _look():
        drawing = _sheet(title, 1.25 + 0.34 * len(names))
        axes = drawing.subplots()
        if mark:
            _reference(axes, *mark)
        for place, interval in enumerate(scores.values()):
            words = f"{score(interval, decimals)}  n = {interval.n:,}"
            axes.annotate(words, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9)
            if interval.value is None:
                continue
            if interval.low is not None and interval.high is not None:
                axes.plot([interval.low, interval.high], [place, place], color=LIGHT["mark"], linewidth=1.4)
            axes.plot([interval.value], [place], "o", color=LIGHT["ink"], markersize=5.5)
        _rows(axes, names)
        axes.grid(axis="x")
        axes.set_xlabel(f"{_clean(unit)}, {_level(scores.values())} % interval", loc="left")
    table = Table(("", unit, "n"), tuple((name, s, s.n) for name, s in scores.items()))
    return Figure(title, table, drawing)


def _reference(axes: Any, word: str, value: float) -> None:
    axes.axvline(value, color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        _clean(word), (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
        textcoords="offset points", ha="center", fontsize=9, color=LIGHT["muted"],
    )  # fmt: skip


def _level(intervals: Any) -> str:
    return " or ".join(sorted({f"{100 * interval.level:g}" for interval in intervals}))


def _rows(axes: Any, names: Sequence[str]) -> None:
    """Names down the left side, the first on top."""
    axes.set_yticks(range(len(names)), [_word(name) for name in names], color=LIGHT["ink"])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines["left"].set_visible(False)


def heat(
    title: str,
    matrix: Sequence[Sequence[float | None]],
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    unit: str,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """A matrix with its numbers in the cells. `rows` and `columns` are what they are and their names."""
    _something(matrix and matrix[0], title)
    if len(matrix) != len(rows[1]) or any(len(row) != len(columns[1]) for row in matrix):
        raise DataError(f"the matrix of {title!r} is not {len(rows[1])} rows by {len(columns[1])} columns")
    present = [value for row in matrix for value in row if value is not None]
    low, high = limits or (min(present, default=0.0), max(present, default=1.0))
    with _look():
        drawing = _sheet(title, 1.6 + 0.42 * len(matrix))
        axes = drawing.subplots()
        _cells(axes, matrix, low, high if high > low else low + 1)
        axes.set_xticks([i + 0.5 for i in range(len(columns[1]))], [_clean(name) for name in columns[1]])
        axes.set_yticks([i + 0.5 for i in range(len(matrix))], [_clean(name) for name in rows[1]])
        axes.set_xlabel(f"{_clean(columns[0])}  (cells: {_clean(unit)})", loc="left")
        axes.set_ylabel(_clean(rows[0]))
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)
    cells = tuple((name, *row) for name, row in zip(rows[1], matrix, strict=True))
    return Figure(title, Table((f"{rows[0]} \\ {columns[0]}", *columns[1]), cells), drawing)


def _cells(axes: Any, matrix: Sequence[Sequence[float | None]], low: float, high: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("deadpan", CELLS)
    plain = [[math.nan if value is None else value for value in row] for row in matrix]
    axes.pcolormesh(plain, cmap=shades, vmin=low, vmax=high, edgecolors=LIGHT["ground"], linewidth=1.5)
    for y, row in enumerate(matrix):
        for x, value in enumerate(row):
            dark = value is not None and (value - low) / (high - low) > 0.55
            ink = LIGHT["muted"] if value is None else ON_DARK_CELL if dark else ON_LIGHT_CELL
            text = "–" if value is None else number(value)
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink)


Point = tuple[float, float | Interval]


def lines(title: str, series: Mapping[str, Sequence[Point]], *, x_unit: str, y_unit: str) -> Figure:
    """Something over something, each line named at its end, with a band where its points have intervals."""
    _something(series and all(series.values()), title)
    with _look():
        drawing = _sheet(title, 3.6)
        axes = drawing.subplots()
        ends: list[tuple[float, str, str]] = []
        for (name, points), hue in zip(series.items(), _hues(list(series)), strict=True):
            drawn = [(x, y.value if isinstance(y, Interval) else y) for x, y in points]
            known = [(x, y) for x, y in drawn if y is not None]
            if not known:
                continue
            axes.plot(*zip(*known, strict=True), color=hue[0], linewidth=1.8, marker="o", markersize=3.5)
            _band(axes, points, hue[0])
            ends.append((known[-1][1], _word(name), hue[1]))
        _end_labels(axes, ends)
        axes.set_xlabel(_clean(x_unit), loc="left")
        axes.set_ylabel(_clean(y_unit))
        axes.grid(axis="y")
    rows: list[tuple[Cell, ...]] = [(name, x, y) for name, points in series.items() for x, y in points]
    return Figure(title, Table(("line", x_unit, y_unit), tuple(rows)), drawing)


def _band(axes: Any, points: Sequence[Point], colour: str) -> None:
    known = [
        (x, y.low, y.high)
        for x, y in points
        if isinstance(y, Interval) and y.low is not None and y.high is not None
    ]
    if known:
        axes.fill_between(*zip(*known, strict=True), color=colour, alpha=0.15, linewidth=0)


def _end_labels(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """The name of each line at its end, pushed apart where two lines end close together."""
    low, high = axes.get_ylim()
    gap, last = 0.065 * (high - low), -math.inf
    for value, word, colour in sorted(ends):
        last = max(value, last + gap)
        axes.annotate(
            word, (1.0, last), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", color=colour, fontweight="bold",
        )  # fmt: skip
    axes.set_ylim(low, high)


def reliability(title: str, bins: Sequence[Bin]) -> Figure:
    """Whether scores mean what they say: of those scored 0.8, are 80 % sarcastic? And how many there are."""
    _something(bins, title)
    shares = [wilson(round(b.share_sarcastic * b.n), b.n) for b in bins]
    with _look():
        drawing = _sheet(title, 4.6)
        axes, below = drawing.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            "scores mean what they say", (0.03, 0.03), xytext=(2, 8), textcoords="offset points",
            rotation=45, rotation_mode="anchor", transform_rotates_text=True, color=LIGHT["muted"], fontsize=9,
        )  # fmt: skip
        for b, share in zip(bins, shares, strict=True):
            axes.plot([b.mean_score] * 2, [share.low, share.high], color=LIGHT["mark"], linewidth=1.4)
        middles, truths = [b.mean_score for b in bins], [b.share_sarcastic for b in bins]
        axes.plot(middles, truths, "o-", color=LIGHT["ink"], linewidth=1, markersize=5.5)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.set_ylabel("share that is sarcastic")
        axes.grid()
        below.bar([b.low for b in bins], [b.n for b in bins], [b.high - b.low for b in bins],
                  align="edge", color=LIGHT["rule"], edgecolor=LIGHT["ground"])  # fmt: skip
        below.set_ylabel("n")
        below.set_xlabel("score, 0 sincere to 1 sarcastic; 95 % interval of each share", loc="left")
    rows = [(b.low, b.high, b.mean_score, share, b.n) for b, share in zip(bins, shares, strict=True)]
    return Figure(
        title, Table(("score, from", "to", "mean score", "share sarcastic", "n"), tuple(rows)), drawing
    )
