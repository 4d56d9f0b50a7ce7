"""The figures of the paper for any raw corpus: sarcasm by subreddit, scores and lengths by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.corpus.built.statistics import RawTable, Source, as_corpus, open_raw
from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.release import remember_published
from deadpan.errors import ConfigError, DataError
from deadpan.figures import Figure, distribution, whiskers
from deadpan.results import Result
from deadpan.stats.interval import Interval, wilson

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

_DRAWN = 50_000  # comments per label in a distribution
_BARS = 30
_ALPHA = 0.05
PAPER_CUT = 1_000_000  # comments of a subreddit in Figure 2 of the paper
_CUTS = (PAPER_CUT, 100_000, 10_000, 1_000, 100, 10, 1)
_FEWEST = 5  # subreddits that make a figure
_SCORES, _LENGTHS = (-20, 40), (1, 80)
_Z = 1.96


@dataclass(frozen=True, slots=True)
class DrawnFigures(Result):
    """Files of the figures."""

    files: tuple[Path, ...]

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary

        return Summary(notes=tuple(str(path) for path in self.files))

    def as_dict(self) -> dict[str, object]:
        return {"files": [str(path) for path in self.files]}


def draw_figures(
    source: Source, *, min_comments: int | None = None, out: Path | str | None = None
) -> DrawnFigures:
    """Draw figures/*.svg and .png of a corpus, or of the rows in a released raw file or in Parquet files.

    The figures of a finished corpus go into its folder; others need `out`. Without `min_comments`, the figure
    of subreddits has the paper's size cut, a million comments, or the next lower power of ten.
    """
    corpus = as_corpus(source)
    folder = Path(out) if out is not None else corpus.folder / "figures" if corpus else None
    if folder is None:
        raise ConfigError(f"{source}: not the folder of a corpus: say where to write the figures with --out")
    with open_raw(source) as table:
        figures = {
            "subreddits": subreddit_figure(table, min_comments),
            "scores": score_figure(table),
            "lengths": length_figure(table),
        }
    paths = tuple(path for name, figure in figures.items() for path in figure.save(folder, name))
    if corpus and out is None:
        names = [path.relative_to(corpus.folder).as_posix() for path in paths]
        remember_published(Checkpoints(corpus.folder), names)
    return DrawnFigures(paths)


def subreddit_figure(table: RawTable, min_comments: int | None = None) -> Figure:
    """Draw the share of sarcastic comments by subreddit above a size (Figure 2 of the paper)."""
    sizes = table.rows(
        "SELECT subreddit, count(*), count(*) FILTER (label = 1) FROM raw WHERE subreddit <> '' GROUP BY 1"
    )
    cut = _cut([count for _, count, _ in sizes]) if min_comments is None else min_comments
    large = {name: (sarcastic, count) for name, count, sarcastic in sizes if count >= cut}
    if not large:
        raise DataError(f"no subreddit has {cut:,} comments in the corpus: lower --min-comments")
    shares = {name: wilson(*counts) for name, counts in large.items()}
    ranked = sorted(shares.items(), key=lambda one: (-(one[1].value or 0), one[0]))
    shown = ranked if len(ranked) <= _BARS else [*ranked[: _BARS // 2], *ranked[-_BARS // 2 :]]
    extremes = f"; shown are the {_BARS // 2} highest and lowest" if len(shown) < len(ranked) else ""
    paper = ", the paper's cut" if cut == PAPER_CUT else ""
    left_out = f"{len(ranked):,} subreddits of {cut:,} comments or more{paper}{extremes}"
    title = f"{_subreddit_title(large)} ({left_out}; {len(sizes) - len(ranked):,} smaller left out)"
    return whiskers(title, dict(shown), unit="share sarcastic")


def _cut(sizes: Sequence[int]) -> int:
    """Return the paper's cut, or the largest power of ten below that leaves enough subreddits."""
    return next((cut for cut in _CUTS if sum(size >= cut for size in sizes) >= _FEWEST), _CUTS[-1])


def _subreddit_title(counts: Mapping[str, tuple[int, int]]) -> str:
    """Return the finding: a difference only if intervals for that many pairs of subreddits are apart."""
    pairs = max(1, len(counts) * (len(counts) - 1) // 2)
    wide = {name: wilson(*count, level=1 - _ALPHA / pairs) for name, count in counts.items()}
    most = max(wide, key=lambda name: (wide[name].low or 0, name))
    least = min(wide, key=lambda name: (wide[name].high or 0, name))
    high, low = wide[most], wide[least]
    if (high.low or 0) <= (low.high or 0):
        return "No two subreddits clearly differ in their share of sarcasm"
    return (
        f"Sarcasm is more common in r/{most} ({100 * (high.value or 0):.3g} %) "
        f"than in r/{least} ({100 * (low.value or 0):.3g} %)"
    )


def score_figure(table: RawTable) -> Figure:
    """Draw scores by label (Figure 3)."""
    return _spread(table, "score", _SCORES, "scores", f"score; the outer bins have all beyond {_SCORES}")


def length_figure(table: RawTable) -> Figure:
    """Draw lengths by label (Figure 4)."""
    return _spread(table, "words", _LENGTHS, "lengths", f"words; the last bin has all from {_LENGTHS[1]} on")


def _spread(table: RawTable, measure: str, limits: tuple[int, int], noun: str, unit: str) -> Figure:
    """Draw a distribution per label: one bin per number, medians of all comments, shapes of a sample."""
    values: dict[str, list[float]] = {}
    medians: dict[str, Interval] = {}
    low, high = limits
    for name, label in (("sarcastic", 1), ("sincere", 0)):
        cells = table.rows(f"SELECT {measure}, count(*) FROM raw WHERE label = {label} GROUP BY 1 ORDER BY 1")
        if not cells:
            raise DataError(f"{table.name}: no {name} comments to compare: use a corpus with both labels")
        medians[name] = median_interval([(int(value), int(count)) for value, count in cells])
        values[name] = _sample([(max(low, min(high, int(v))), int(n)) for v, n in cells])
    sizes = {name: median.n for name, median in medians.items()}
    title = _spread_title(noun, values, medians)
    return distribution(title, values, unit=unit, bins=high - low + 1, sizes=sizes)


def _sample(cells: Sequence[tuple[int, int]]) -> list[float]:
    """Return all values if there are few, else a systematic sample in proportion to their counts."""
    total = sum(count for _, count in cells)
    step = max(1.0, total / _DRAWN)
    ends = list(accumulate(count for _, count in cells))
    drawn: list[float] = []
    taken = 0
    for (value, _), end in zip(cells, ends, strict=True):
        upto = int(end / step)
        drawn += [float(value)] * (upto - taken)
        taken = upto
    return drawn


def median_interval(cells: Sequence[tuple[int, int]]) -> Interval:
    """Return the median of counted values with its interval of order statistics."""
    total = sum(count for _, count in cells)
    ends = list(accumulate(count for _, count in cells))

    def at(rank: float) -> float:
        place = min(max(int(rank), 0), total - 1)
        return float(next(value for (value, _), end in zip(cells, ends, strict=True) if place < end))

    half = _Z * sqrt(total) / 2
    middle = (at((total - 1) // 2) + at(total // 2)) / 2
    return Interval(middle, at(total / 2 - half), at(total / 2 + half), 1 - _ALPHA, total)


def _spread_title(noun: str, values: Mapping[str, list[float]], medians: Mapping[str, Interval]) -> str:
    """Return the finding: a difference only if a rank test finds one."""
    from scipy.stats import mannwhitneyu

    p = float(mannwhitneyu(values["sarcastic"], values["sincere"]).pvalue)
    one, other = (
        f"{median.value:g} [{median.low:g}, {median.high:g}]"
        for median in (medians["sarcastic"], medians["sincere"])
    )
    shown = f"medians {one} if sarcastic, {other} if not"
    if p >= _ALPHA:
        return f"No significant difference in {noun} ({shown}; p = {p:.2f})"
    return f"{noun.capitalize()} differ by label: {shown} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"
