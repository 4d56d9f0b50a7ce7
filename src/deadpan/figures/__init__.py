"""Plots with one look: the title states the finding, axes name the unit, and labels are next to the data."""

from deadpan.figures.figure import Figure
from deadpan.figures.plots import bars, distribution, heat, lines, reliability, whiskers

__all__ = ["Figure", "bars", "distribution", "heat", "lines", "reliability", "whiskers"]
