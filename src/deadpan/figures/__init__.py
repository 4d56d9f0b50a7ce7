"""One look for every plot: the title says the finding, axes the unit, and labels stand by what they name."""

from deadpan.figures.amounts import bars, distribution
from deadpan.figures.curves import lines
from deadpan.figures.figure import Figure
from deadpan.figures.matrix import heat
from deadpan.figures.scores import reliability, whiskers

__all__ = ["Figure", "bars", "distribution", "heat", "lines", "reliability", "whiskers"]
