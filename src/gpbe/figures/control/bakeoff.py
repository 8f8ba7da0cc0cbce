"""Four algorithms in four domains, each with the one setting that wins a Condorcet vote (paper, section 9.2)."""

from gpbe.figures.control import voted
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps


def draw(sweeps: Sweeps) -> Drawing:
    return voted.draw(sweeps, "One setting for all domains (Condorcet vote): mean return and standard error")
