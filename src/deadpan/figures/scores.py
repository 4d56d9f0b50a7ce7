"""Scores with their confidence intervals, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deadpan.figures.figure import Figure, check_not_empty, clean, name_rows, thousands, two_lines
from deadpan.page.numbers import digits, score
from deadpan.page.table import Table
from deadpan.palette import LIGHT
from deadpan.stats import Bin, Interval, wilson

LONGEST_LABEL = 44
"""Letters of one line below a plot whose rows have names of the greatest length."""


def whiskers(
    title: str, scores: Mapping[str, Interval], *, unit: str, mark: tuple[str, float] | None = None
) -> Figure:
    """Draw scores with their intervals, one per row. `mark` is a reference line: ("chance", 0.5)."""
    check_not_empty(scores, title)
    names = list(scores)
    decimals = digits(scores.values())

    def paint(drawing: Any) -> None:
        axes = drawing.subplots()
        if mark:
            _reference(axes, *mark)
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
        label = f"{clean(unit)}, {_level(scores.values())} % confidence interval"
        axes.set_xlabel(two_lines(label, LONGEST_LABEL), loc="left")

    table = Table(("", unit, "n"), tuple((name, s, s.n) for name, s in scores.items()))
    row = 0.44 if any("\n" in two_lines(name) for name in names) else 0.32
    return Figure(title, table, 0.95 + row * len(names), paint)


def _reference(axes: Any, word: str, value: float) -> None:
    axes.axvline(value, color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        clean(word), (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
        textcoords="offset points", ha="center", fontsize=9, color=LIGHT["muted"],
    )  # fmt: skip


def _level(intervals: Iterable[Interval]) -> str:
    return " or ".join(sorted({f"{100 * interval.level:g}" for interval in intervals}))


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
    return Figure(
        title, Table(("score, from", "to", "mean score", "share sarcastic", "n"), tuple(rows)), 4.2, paint
    )
