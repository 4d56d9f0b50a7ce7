"""Stories: what one output tells, in findings, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadpan.page import Table
from deadpan.report.outputs import Output

Draw = Callable[[], Any]
"""Returns a Figure; called only when the page is written."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that matters, and how much. It never names a winner that is not significant."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class StoryTable:
    """A table; `outputs` has one output per row where rows come from different ones."""

    table: Table
    outputs: Sequence[Output] = ()
    numeric: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """The page of an output, and its card on the front page."""

    title: str
    lead: str
    facts: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    tables: tuple[StoryTable, ...] = ()
    figures: tuple[Draw, ...] = ()
    notes: tuple[str, ...] = ()
    outputs: tuple[Output, ...] = field(default=())
