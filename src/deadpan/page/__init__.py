"""HTML pages with one look: self-contained, without scripts."""

from deadpan.page.numbers import number, score
from deadpan.page.page import Page, stylesheet
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Link, Table
from deadpan.results import Result

__all__ = ["Cell", "Link", "Page", "Result", "Summary", "Table", "number", "score", "stylesheet"]
