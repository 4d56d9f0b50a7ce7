"""Results on a page: their finding, figures, and the tables and notes that the terminal shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.errors import MissingExtra
from deadpan.page.numbers import score
from deadpan.page.page import Page

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.results import Interval, Result
    from deadpan.stats.paired import PairedDifference
    from deadpan.storage import OutputPage


def output_page(about: OutputPage) -> Page:
    """Return the page of a result, which begins with its finding."""
    page = Page(about.title, about.finding)
    return page.text(" · ".join(about.facts)) if about.facts else page


def rank_headline(
    data: str, metric: str, scores: Mapping[str, Interval], pairs: Sequence[PairedDifference], constant: float | None
) -> str:
    """Return which of some systems is best, the first of `scores` being the best by its value.

    A winner is named only if it is significantly better than every other system and than a constant answer.
    """
    from deadpan.stats.scores import beats

    first = next(iter(scores))
    useful = {name: beats(metric, value, constant) for name, value in scores.items()}
    if len(scores) == 1 and useful[first]:
        return f"{first} on {data}"
    if not any(useful.values()):
        who = f"{first} is not" if len(scores) == 1 else "No system is"
        return f"{who} significantly better than a constant answer on {data}"
    own = [pair for pair in pairs if first in (pair.first, pair.second)]
    if useful[first] and len(own) == len(scores) - 1 and all(pair.significant for pair in own):
        return f"{first} does best on {data}"
    return f"No system is significantly better than all others on {data}"


def rank_finding(
    data: str, metric: str, scores: Mapping[str, Interval], pairs: Sequence[PairedDifference], constant: float | None
) -> str:
    """Return the headline with the score of the first system."""
    from deadpan.stats.scores import metric_words

    first = next(iter(scores))
    who = "" if len(scores) == 1 else f"{first} has "
    shown = f"{who}{metric_words(metric)} {score(scores[first])}"
    return f"{rank_headline(data, metric, scores, pairs, constant)}: {shown}."


def add_figure(page: Page, folder: Path, name: str, draw: Callable[[], Figure]) -> None:
    """Add a figure to a page and save it beside it; without matplotlib, a note that says how to get it."""
    try:
        figure = draw()
        figure.save(folder, name)
        page.figure(figure.svg(), figure.title, figure.table)
    except MissingExtra as missing:
        page.note(str(missing))


def add_summary(page: Page, result: Result) -> None:
    """Add the tables and notes that the terminal shows."""
    summary = result.summary()
    for table in summary.tables:
        page.table(table.columns, table.rows, caption=table.title)
    for note in summary.notes:
        page.note(note)
