"""Action values against parameterized policies, for two updates (paper, section 9.6)."""

from gpbe.figures.control import hyperparameters
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import Sweeps

ALGORITHMS = ("qrc", "sbeed-q", "tdrc-pg", "sbeed")
"""Action values first."""


def draw(sweeps: Sweeps) -> Drawing:
    title = "Action values (QRC, SBEED-Q) and policies (TDRC-PG, SBEED): mean return of each setting"
    return hyperparameters.violins(sweeps, ALGORITHMS, title)
