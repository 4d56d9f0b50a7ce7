"""Bar charts of amounts, and distributions of a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from statistics import median
from typing import Any

from deadpan.errors import DataError
from deadpan.figures.figure import (
    LABELS,
    WIDTH,
    Figure,
    check_not_empty,
    clean,
    hues,
    name_rows,
    thousands,
    two_lines,
    whole,
    word_of,
)
from deadpan.page.numbers import MOST_DIGITS, digits, number, score
from deadpan.page.table import Cell, Table
from deadpan.palette import LIGHT
from deadpan.stats import Bin, Interval, wilson


def bars(title: str, values: Mapping[str, float | Interval], *, unit: str) -> Figure:
    """Draw one bar per name, from zero, with its number at the end; an Interval gets a whisker."""
    check_not_empty(values, title)
    if whole(values.values()):
        values = {name: int(value) for name, value in values.items() if not isinstance(value, Interval)}
    names = list(values)
    intervals = [value for value in values.values() if isinstance(value, Interval)]
    decimals = digits(intervals)
    lengths = [(value.value or 0.0) if isinstance(value, Interval) else value for value in values.values()]

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        plain = "rule" if intervals else "muted"  # a whisker has to be seen on its bar
        colours = [LIGHT[name if name in LABELS else plain] for name in names]
        axes.barh(range(len(names)), lengths, height=0.62, color=colours)
        for place, (value, length) in enumerate(zip(values.values(), lengths, strict=True)):
            ends = {"xytext": (4 if length >= 0 else -4, 0), "textcoords": "offset points"}
            side = "left" if length >= 0 else "right"
            text, end = number(length), length
            if isinstance(value, Interval):
                text = score(value, decimals)
                end = _whisker(axes, place, value)
            axes.annotate(text, (end, place), ha=side, va="center", **ends)
        name_rows(axes, names)
        axes.margins(x=0.45 if intervals else 0.15)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=not intervals and whole(lengths)))
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")

    return Figure(title, Table(("", unit), tuple(values.items())), 0.75 + 0.3 * len(names), paint)


def _whisker(axes: Any, place: int, value: Interval) -> float:
    """Draw an interval over its bar, and return where its label begins: beyond both."""
    length = value.value or 0.0
    if value.low is None or value.high is None:
        return length
    axes.plot([value.low, value.high], [place, place], color=LIGHT["ink"], linewidth=1.4)
    return max(value.high, length) if length >= 0 else min(value.low, length)


def distribution(
    title: str,
    values: Mapping[str, Sequence[float]],
    *,
    unit: str,
    bins: int = 24,
    sizes: Mapping[str, int] | None = None,
) -> Figure:
    """Draw the distribution of a measure per label, as shares, so that sizes can differ.

    `sizes` are the numbers of examples that the values are a sample of.
    """
    check_not_empty(values and all(len(group) for group in values.values()), title)
    import numpy as np

    numbers = [value for group in values.values() for value in group]
    edges = _edges(numbers, bins)
    counts = {name: np.histogram(group, edges)[0] for name, group in values.items()}
    shares = [100 * heights / heights.sum() for heights in counts.values()]
    known = sizes or {name: len(group) for name, group in values.items()}
    words = [f"{word_of(name)}, n = {known[name]:,}" for name in values]

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        for share, hue in zip(shares, hues(list(values)), strict=True):
            axes.stairs(share, edges, color=hue[0], linewidth=1.8)
            axes.stairs(share, edges, color=hue[0], fill=True, alpha=0.12)
        places = _label_places(shares)
        for text, hue, (at, height) in zip(words, hues(list(values)), places, strict=True):
            x = edges[0] + at * (edges[-1] - edges[0])
            axes.text(x, height, text, ha="center", va="bottom", color=hue[1], fontweight="bold")
        axes.set_ylim(0, max(height for _, height in places) * 1.1)
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=whole(numbers)))
        axes.xaxis.set_major_formatter(thousands)
        axes.set_xlabel(clean(unit), loc="left")
        axes.set_ylabel("% of examples with the label")
        axes.grid(axis="y")

    rows = [
        (float(low), float(high), *(int(heights[i]) for heights in counts.values()))
        for i, (low, high) in enumerate(pairwise(edges))
    ]
    return Figure(title, Table((f"{unit}, from", "to", *values), tuple(rows)), 3.0, paint)


def _edges(numbers: Sequence[float], bins: int) -> Any:
    """Return bin edges for all groups; one bin per whole number if there are few of them."""
    import numpy as np

    low, high = min(numbers), max(numbers)
    if whole(numbers) and high - low < 2 * bins:
        return np.arange(low, high + 2) - 0.5

    return np.linspace(low, high if high > low else low + 1, bins + 1)


LABEL_WIDTH, LABEL_HEIGHT = 0.36, 0.09
"""Approximate size of a label as a share of the axes."""


def _label_places(shares: Sequence[Any]) -> list[tuple[float, float]]:
    """Return the position of each curve's label: a share of the width, and a height in data units.

    A label is placed where its curve rises most above the others, above everything drawn there.
    """
    import numpy as np

    envelope = np.max(shares, axis=0)
    middles = (np.arange(len(envelope)) + 0.5) / len(envelope)
    places: list[tuple[float, float]] = []
    for index, share in enumerate(shares):
        others = [other for i, other in enumerate(shares) if i != index]
        rise = share - (np.max(others, axis=0) if others else 0)
        at = min(max(float(middles[np.argmax(rise)]), LABEL_WIDTH / 2), 1 - LABEL_WIDTH / 2)
        below = np.abs(middles - at) <= LABEL_WIDTH / 2 + 0.5 / len(envelope)
        height = float(envelope[below].max(initial=0)) + 0.02 * float(envelope.max())
        for other_at, other_height in places:
            near = abs(other_height - height) < LABEL_HEIGHT * float(envelope.max())
            if near and abs(other_at - at) < LABEL_WIDTH:
                height = other_height + LABEL_HEIGHT * float(envelope.max())
        places.append((at, height))

    return places


Point = tuple[float, float | Interval]


def lines(title: str, series: Mapping[str, Sequence[Point]], *, x_unit: str, y_unit: str, log: bool = False) -> Figure:
    """Draw lines, with a band where points have intervals; `log` makes the x axis logarithmic."""
    check_not_empty(series and all(series.values()), title)

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = drawing.subplots()
        if log:
            axes.set_xscale("log")
        elif whole(x for points in series.values() for x, _ in points):
            axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if whole(y for points in series.values() for _, y in points):
            axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
        axes.xaxis.set_major_formatter(thousands)
        ends: list[tuple[float, str, str]] = []
        for (name, points), hue, shape in zip(series.items(), hues(list(series)), cycle("osD^"), strict=False):
            drawn = [(x, y.value if isinstance(y, Interval) else y) for x, y in points]
            known = [(x, y) for x, y in drawn if y is not None]
            if not known:
                continue
            axes.plot(*zip(*known, strict=True), color=hue[0], linewidth=1.8, marker=shape, markersize=4)
            band = [(x, y.low, y.high) for x, y in points if isinstance(y, Interval) and None not in (y.low, y.high)]
            if band:
                axes.fill_between(*zip(*band, strict=True), color=hue[0], alpha=0.15, linewidth=0)
            ends.append((known[-1][1], word_of(name), hue[1]))
        _end_labels(axes, ends)
        axes.set_xlabel(clean(x_unit), loc="left")
        axes.set_ylabel(clean(y_unit))
        axes.grid(axis="y")

    rows: list[tuple[Cell, ...]] = [(name, x, y) for name, points in series.items() for x, y in points]
    return Figure(title, Table(("line", x_unit, y_unit), tuple(rows)), 3.2, paint)


def _end_labels(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the name of each line at its end, shifted where two lines end close together."""
    low, high = axes.get_ylim()
    gap, last = 0.065 * (high - low), -math.inf
    places = [last := max(value, last + gap) for value, _, _ in sorted(ends)]
    # Labels that would go beyond the top move down, and push those below them.
    for at in reversed(range(len(places))):
        places[at] = min(places[at], high if at == len(places) - 1 else places[at + 1] - gap)
    for (_, word, colour), place in zip(sorted(ends), places, strict=True):
        axes.annotate(
            word, (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", color=colour, fontweight="bold",
        )  # fmt: skip
    axes.set_ylim(low, high)


# Not the palette's white and ink, which a dark page inverts: the colour of a cell does not change.
ON_DARK_CELL, ON_LIGHT_CELL = "#fefefe", "#1c1f25"
_LETTER = 0.085  # inches, about
SLANTED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
CELLS = ("#f1f5f3", "#8fc7b3", "#00503a")
"""Shades of one hue from the lowest to the highest value."""
AROUND = ("#7a2f57", "#cf9fba", "#f4f4f4", "#8fc7b3", "#00503a")
"""Shades of two hues around a centre: purple below, green above, light at the centre itself."""
LARGEST, SMALLEST = 10.0, 6.5
"""Sizes of the numbers in the cells, in points."""


def heat(
    title: str,
    matrix: Sequence[Sequence[float | None]],
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    unit: str,
    limits: tuple[float, float] | None = None,
    decimals: int = MOST_DIGITS,
    centre: float | Sequence[float] | None = None,
) -> Figure:
    """Draw a matrix with its numbers in the cells. `rows` and `columns` are an axis label and the names.

    With a `centre`, such as the score of chance, the colours run from it in two hues, equally far both ways;
    a list has one centre per column, such as the score of a constant answer on each corpus.
    """
    check_not_empty(matrix and matrix[0], title)
    if len(matrix) != len(rows[1]) or any(len(row) != len(columns[1]) for row in matrix):
        raise DataError(f"the matrix of {title!r} is not {len(rows[1])} rows by {len(columns[1])} columns")
    present = [value for row in matrix for value in row if value is not None]
    low, high = limits or (min(present, default=0.0), max(present, default=1.0))
    middles = [0.0] * len(columns[1])
    if centre is not None:
        middles = [float(centre)] * len(middles) if isinstance(centre, int | float) else list(centre)
        if len(middles) != len(columns[1]):
            raise DataError(f"the matrix of {title!r} needs one centre per column: got {len(middles)}")
        away = [abs(v - c) for row in matrix for v, c in zip(row, middles, strict=True) if v is not None]
        away += [abs(end - c) for end in limits or () for c in middles]
        reach = max(away, default=1.0) or 1.0
        low, high = -reach, reach
    longest = _LETTER * max(map(len, columns[1]))
    slanted = longest > (WIDTH - _LETTER * max(map(len, rows[1]))) / len(columns[1])

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        shades = CELLS if centre is None else AROUND
        room = 72 * (WIDTH - _LETTER * max(map(len, rows[1]))) / len(columns[1])
        limits = (low, high if high > low else low + 1)
        _cells(axes, matrix, middles, limits, decimals, shades, room)
        axes.set_xticks(
            [i + 0.5 for i in range(len(columns[1]))],
            [clean(name) for name in columns[1]],
            color=LIGHT["ink"],
            **(SLANTED if slanted else {}),
        )
        axes.set_yticks([i + 0.5 for i in range(len(matrix))], [clean(name) for name in rows[1]], color=LIGHT["ink"])
        around = "" if centre is None else "; light: a constant answer"
        if isinstance(centre, int | float):
            around = f"; light: {number(centre)}, chance"
        axes.set_xlabel(f"{clean(columns[0])} (cells: {clean(unit)}{around})", loc="left")
        axes.set_ylabel(clean(rows[0]))
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)

    cells = tuple((name, *row) for name, row in zip(rows[1], matrix, strict=True))
    height = 0.9 + 0.42 * len(matrix) + (0.7 * longest if slanted else 0)
    return Figure(title, Table((f"{rows[0]} \\ {columns[0]}", *columns[1]), cells), height, paint)


def _cells(
    axes: Any, matrix: Sequence[Sequence[float | None]], middles: Sequence[float],
    limits: tuple[float, float], decimals: int, hues: Sequence[str], room: float,
) -> None:  # fmt: skip
    """Colour the cells by their distance from the middle of their column, and write their numbers.

    They are small enough for a cell that is `room` points wide.
    """
    from matplotlib.colors import LinearSegmentedColormap

    low, high = limits
    shades = LinearSegmentedColormap.from_list("deadpan", hues)
    texts = [[_number(value, decimals) for value in row] for row in matrix]
    longest = max(len(text) for row in texts for text in row)
    size = min(LARGEST, max(SMALLEST, room / (0.68 * longest)))
    plain = [
        [math.nan if value is None else value - middle for value, middle in zip(row, middles, strict=True)]
        for row in matrix
    ]
    axes.pcolormesh(plain, cmap=shades, vmin=low, vmax=high, edgecolors=LIGHT["ground"], linewidth=1.5)
    for y, row in enumerate(matrix):
        for x, value in enumerate(row):
            shade = shades((plain[y][x] - low) / (high - low))
            ink = LIGHT["muted"] if value is None else _ink_on(shade)
            axes.text(x + 0.5, y + 0.5, texts[y][x], ha="center", va="center", color=ink, fontsize=size)


def _number(value: float | None, decimals: int) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:z,.{decimals}f}"


def _ink_on(shade: tuple[float, ...]) -> str:
    """Return dark or light text, whichever has more contrast with the cell (WCAG's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return ON_DARK_CELL if luminance < 0.18 else ON_LIGHT_CELL


SHAPES = ("^", "o", "s", "D")
# Points drawn per group: more would hide each other.
_MOST = 2_000


def points(
    title: str,
    groups: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_unit: str,
    y_unit: str,
    limits: tuple[float, float, float, float] | None = None,
    highest: float | None = None,
) -> Figure:
    """Draw groups of points; `limits` are the ends of both axes. Of many points an even sample is drawn.

    `highest` is the largest value that y can have: room above it is for the names of the groups, without
    ticks.
    """
    check_not_empty(groups and all(groups.values()), title)

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        for place, ((name, pairs), hue) in enumerate(zip(groups.items(), hues(list(groups)), strict=True)):
            shown = pairs[:: max(1, len(pairs) // _MOST)]
            axes.plot(*zip(*shown, strict=True), SHAPES[place % len(SHAPES)], color=hue[0], alpha=0.35,
                      markersize=3, markeredgewidth=0)  # fmt: skip
            text = f"{word_of(name)}, n = {len(pairs):,}"
            axes.text(0.01, 0.97 - 0.09 * place, text, transform=axes.transAxes, va="top",
                      color=hue[1], fontweight="bold")  # fmt: skip
        if limits:
            axes.set(xlim=limits[:2], ylim=limits[2:])
        if highest is not None:
            axes.set_yticks([tick for tick in axes.get_yticks() if axes.get_ylim()[0] <= tick <= highest])
        axes.set_xlabel(clean(x_unit), loc="left")
        axes.set_ylabel(clean(y_unit))
        axes.grid()

    rows = [
        (name, median(x for x, _ in pairs), median(y for _, y in pairs), len(pairs)) for name, pairs in groups.items()
    ]
    return Figure(title, Table(("", f"median {x_unit}", f"median {y_unit}", "n"), tuple(rows)), 3.6, paint)


LONGEST_LABEL = 44
"""Letters of one line below a plot whose rows have names of the greatest length."""


def whiskers(title: str, scores: Mapping[str, Interval], *, unit: str, mark: tuple[str, float] | None = None) -> Figure:
    """Draw scores with their intervals, one per row. `mark` is a reference line: ("chance", 0.5)."""
    check_not_empty(scores, title)
    names = list(scores)
    decimals = digits(scores.values())

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        if mark:
            word, value = mark
            axes.axvline(value, color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
            axes.annotate(
                clean(word), (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
                textcoords="offset points", ha="center", fontsize=9, color=LIGHT["muted"],
            )  # fmt: skip
        for place, interval in enumerate(scores.values()):
            shown = "undefined" if interval.value is None else score(interval, decimals)
            text = f"{shown}\u2003n = {interval.n:,}"  # SVG collapses two plain spaces
            axes.annotate(text, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9)
            if interval.value is None:
                continue
            if interval.low is not None and interval.high is not None:
                axes.plot([interval.low, interval.high], [place, place], color=LIGHT["mark"], linewidth=1.4)
            axes.plot([interval.value], [place], "o", color=LIGHT["ink"], markersize=5.5)
        name_rows(axes, names)
        axes.grid(axis="x")
        levels = " or ".join(sorted({f"{100 * interval.level:g}" for interval in scores.values()}))
        label = f"{clean(unit)}, {levels} % confidence interval"
        axes.set_xlabel(two_lines(label, LONGEST_LABEL), loc="left")

    table = Table(("", unit, "n"), tuple((name, s, s.n) for name, s in scores.items()))
    row = 0.44 if any("\n" in two_lines(name) for name in names) else 0.32
    return Figure(title, table, 0.95 + row * len(names), paint)


def reliability(title: str, bins: Sequence[Bin]) -> Figure:
    """Draw a reliability diagram: the share sarcastic by score, and the number of examples below it."""
    check_not_empty(bins, title)
    shares = [wilson(round(b.share_sarcastic * b.n), b.n) for b in bins]

    def paint(drawing: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes, below = drawing.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
        axes.text(
            0.99, 0.03, "dashed: perfect calibration", transform=axes.transAxes, ha="right",
            color=LIGHT["muted"], fontsize=9,
        )  # fmt: skip
        for b, share in zip(bins, shares, strict=True):
            axes.plot([b.mean_score] * 2, [share.low, share.high], color=LIGHT["mark"], linewidth=1.4)
        middles, truths = [b.mean_score for b in bins], [b.share_sarcastic for b in bins]
        axes.plot(middles, truths, "o-", color=LIGHT["ink"], linewidth=1, markersize=5.5)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.set_ylabel("share sarcastic")
        axes.grid()
        below.bar([b.low for b in bins], [b.n for b in bins], [b.high - b.low for b in bins],
                  align="edge", color=LIGHT["rule"], edgecolor=LIGHT["ground"])  # fmt: skip
        below.set_ylabel("n")
        below.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        below.yaxis.set_major_formatter(thousands)
        below.set_xlabel("score, 0 sincere to 1 sarcastic; lines: 95 % confidence interval", loc="left")

    rows = [(b.low, b.high, b.mean_score, share, b.n) for b, share in zip(bins, shares, strict=True)]
    return Figure(title, Table(("score, from", "to", "mean score", "share sarcastic", "n"), tuple(rows)), 4.2, paint)
