"""The vote with Lunar Lander held out (paper, appendix on voting)."""

from gpbe.figures.control import voted
from gpbe.figures.control.looks import LUNAR_LANDER
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps


def draw(sweeps: Sweeps) -> Drawing:
    title = "One setting for all domains, Lunar Lander without a vote: mean return and standard error"
    return voted.draw(sweeps, title, leave_out=[LUNAR_LANDER])
