"""Learning curves with one setting an algorithm, voted for by the domains (paper, figures of section 9.2, appendix)."""

from collections.abc import Sequence

from gpbe import analysis
from gpbe.analysis.selection import Vote
from gpbe.figures import style
from gpbe.figures.control import choices, panels
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps

ALGORITHMS = EXPERIMENTS["bakeoff"]


def draw(sweeps: Sweeps, title: str, method: Vote = "condorcet", leave_out: Sequence[str] = ()) -> Drawing:
    """Mean and standard error of the setting that wins the vote, in every domain."""
    picks = choices.by_vote(sweeps, ALGORITHMS, method, leave_out)
    table = analysis.curves(sweeps.table(ALGORITHMS), picks, worst=sweeps.worst)
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.curve_panels(fig, table, ALGORITHMS)
        gone = panels.head(fig, title, sweeps, ALGORITHMS)
    return Drawing(fig, table, (*gone, *choices.describe_vote(sweeps, ALGORITHMS, method, leave_out)))
