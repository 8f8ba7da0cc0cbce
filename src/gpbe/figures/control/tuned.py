"""Learning curves with the best setting of each domain (paper, appendix on voting)."""

from gpbe import analysis
from gpbe.figures import style
from gpbe.figures.control import choices, panels
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps

ALGORITHMS = EXPERIMENTS["bakeoff"]


def draw(sweeps: Sweeps) -> Drawing:
    picks = choices.per_domain(sweeps, ALGORITHMS)
    table = analysis.curves(sweeps.table(ALGORITHMS), picks, worst=sweeps.worst)
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.curve_panels(fig, table, ALGORITHMS)
        title = "The best setting of each domain: mean return and standard error"
        gone = panels.head(fig, title, sweeps, ALGORITHMS)
    return Drawing(fig, table, (*gone, *choices.describe_per_domain(picks, ALGORITHMS)))
