"""HTML pages with one look: self-contained, without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deadpan import lazy
from deadpan.page.numbers import number, score
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Link, Table
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.page import Page, stylesheet

__all__ = ["Cell", "Link", "Page", "Result", "Summary", "Table", "number", "score", "stylesheet"]


def __getattr__(name: str) -> Any:
    """Import HTML pages on first use: a summary on a terminal needs none."""
    return lazy(__name__, name, {"Page": "page", "stylesheet": "page"})
