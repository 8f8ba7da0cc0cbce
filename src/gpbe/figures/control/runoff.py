"""The setting chosen by instant runoff instead of a Condorcet vote (paper, appendix on voting)."""

from gpbe.figures.control import voted
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps


def draw(sweeps: Sweeps) -> Drawing:
    title = "One setting for all domains (instant runoff): mean return and standard error"
    return voted.draw(sweeps, title, "instant-runoff")
