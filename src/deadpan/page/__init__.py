"""One look for every HTML page deadpan writes: self-contained, offline, no scripts."""

from deadpan.page.numbers import number, score
from deadpan.page.page import Page, stylesheet
from deadpan.page.table import Cell, Link, Table

__all__ = ["Cell", "Link", "Page", "Table", "number", "score", "stylesheet"]
