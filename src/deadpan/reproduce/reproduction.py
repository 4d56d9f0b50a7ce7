"""Papers measured again: every cell with its verdict, as a summary, JSON and pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.page import Cell, Summary, Table
from deadpan.page.numbers import score
from deadpan.reproduce.published import Exhibit, Paper, PublishedCell
from deadpan.reproduce.verdicts import WORDS, Measured, Needed
from deadpan.results import Result
from deadpan.stats import Interval

SHOWN = 6
"""Cells that differ in the summary."""


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """A published cell, what was measured, and the verdict."""

    published: PublishedCell
    ours: Measured
    verdict: Needed
    job: str = ""

    @property
    def interval(self) -> Interval | None:
        """Our value on the published scale."""
        value, scale = self.ours.value, self.published.scale
        if value is None or value.value is None:
            return value
        low, high = (None if end is None else end * scale for end in (value.low, value.high))
        return Interval(value.value * scale, low, high, value.level, value.n, value.why)

    @property
    def text(self) -> str:
        """Our value as people read it, with as many decimals as the paper has."""
        if self.ours.text:
            return self.ours.text
        interval = self.interval
        if interval is None:
            return ""
        if interval.low is None and interval.value is not None and self.published.judged == "count":
            return f"{interval.value:,.{self.published.decimals}f}"
        return score(interval, None if self.published.value is None else max(self.published.decimals, 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the cell for JSON."""
        interval = self.interval
        return {
            "id": self.published.id, "row": self.published.row, "column": self.published.column,
            "published": self.published.said if self.published.value is None else self.published.value,
            "published_text": self.published.text,
            "ours": None if interval is None else interval.as_dict(), "ours_text": self.text,
            "verdict": self.verdict.word, "why": self.verdict.why, "how": self.ours.how, "job": self.job,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PaperReproduction:
    """A paper with a judged cell for every published one; `drawings` are figures by exhibit."""

    paper: Paper
    cells: Mapping[str, JudgedCell] = field(repr=False)
    drawings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def of(self, exhibit: Exhibit) -> list[JudgedCell]:
        """Return the cells of a table or figure, in order."""
        return [self.cells[cell.id] for cell in exhibit.cells if cell.id in self.cells]

    @property
    def counts(self) -> Counter[str]:
        """Cells by verdict."""
        return Counter(cell.verdict.word for cell in self.cells.values())

    def as_dict(self) -> dict[str, Any]:
        """Return every exhibit with its cells."""
        exhibits = [
            {"id": each.id, "title": each.title, "cells": [cell.as_dict() for cell in self.of(each)]}
            for each in self.paper.exhibits
            if self.of(each)
        ]
        return {
            "name": self.paper.name, "short": self.paper.short, "title": self.paper.title,
            "citation": self.paper.citation,
            "counts": dict(self.counts), "exhibits": exhibits,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction(Result):
    """The papers that were measured again."""

    papers: tuple[PaperReproduction, ...]
    quick: bool
    seeds: int
    resumed: int
    out: Path | None = None

    def __repr__(self) -> str:
        names = ", ".join(each.paper.name for each in self.papers)
        return f"<Reproduction of {names}: {self.counts['reproduced']} of {len(self)} cells reproduced>"

    def __len__(self) -> int:
        return sum(len(each.cells) for each in self.papers)

    @property
    def counts(self) -> Counter[str]:
        """Cells of all papers by verdict."""
        return sum((each.counts for each in self.papers), Counter[str]())

    def cells(self) -> Iterator[tuple[str, JudgedCell]]:
        """Yield the name of the paper and every cell."""
        for each in self.papers:
            for cell in each.cells.values():
                yield each.paper.name, cell

    def headline(self) -> str:
        """Return the finding in one sentence."""
        counts = self.counts
        measured = counts["reproduced"] + counts["differs"]
        if not measured:
            return f"None of the {len(self):,} cells could be measured: they need data, people or weights."
        verb = "differs" if counts["differs"] == 1 else "differ"
        return (
            f"{counts['reproduced']:,} of {measured:,} cells that could be measured are reproduced, "
            f"{counts['differs']:,} {verb}; {len(self) - measured:,} need data, people or weights."
        )

    def summary(self) -> Summary:
        """Return verdicts per paper, then the cells that differ."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (each.paper.name, *(each.counts[word] for word in WORDS), len(each.cells)) for each in self.papers
        )
        differing = tuple(
            (f"{name} {cell.published.exhibit}, {cell.published.row}, {cell.published.column}",
             cell.published.text, cell.text)
            for name, cell in self.cells() if cell.verdict.word == "differs"
        )  # fmt: skip
        tables = [Table(("paper", *WORDS, "cells"), rows)]
        if differing:
            tables.append(Table(("differs", "published", "ours"), differing[:SHOWN]))
        notes = [self.headline()]
        if len(differing) > SHOWN:
            notes.append(f"{len(differing) - SHOWN:,} more differ: see the pages.")
        if self.quick:
            notes.append("Quick: the first of five folds, samples of large corpora, one seed.")
        if self.resumed:
            notes.append(f"{self.resumed:,} jobs were finished by an earlier start.")
        if self.out:
            notes.append(f"Every cell with its reason: {self.out / 'index.html'}")
        return Summary(tuple(tables), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return every cell of every paper."""
        return {
            "quick": self.quick,
            "seeds": self.seeds,
            "headline": self.headline(),
            "counts": {word: self.counts[word] for word in WORDS},
            "papers": [each.as_dict() for each in self.papers],
        }
