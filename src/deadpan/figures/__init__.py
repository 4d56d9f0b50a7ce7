"""Plots with one look: the title states the finding, axes name the unit, and labels are next to the data."""

from deadpan.figures.amounts import bars, distribution
from deadpan.figures.curves import lines
from deadpan.figures.figure import Figure
from deadpan.figures.matrix import heat
from deadpan.figures.scores import reliability, whiskers

__all__ = ["Figure", "bars", "distribution", "heat", "lines", "reliability", "whiskers"]
