"""How performance is spread over runs, with the best setting of each domain (paper, sections 9.3 to 9.5)."""

from collections.abc import Sequence

from gpbe.figures import style
from gpbe.figures.control import choices, looks, panels
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps


def draw(sweeps: Sweeps) -> Drawing:
    """One domain as an example: Lunar Lander, or the last one that there is."""
    algorithms = EXPERIMENTS["bakeoff"]
    performances = sweeps.performances(algorithms)
    domain = looks.domains_in(performances["domain"])[-1]
    if looks.LUNAR_LANDER in set(performances["domain"]):
        domain = looks.LUNAR_LANDER
    picks = choices.per_domain(sweeps, algorithms).filter(domain=domain)
    table = choices.chosen(performances, picks)
    with style.figure(5.8, 1.4 + 1.25 * len(panels.there(algorithms, table))) as fig:
        panels.run_stacks(fig, table, algorithms)
        gone = panels.head(fig, "Runs of the best setting (dashed: their mean)", sweeps, algorithms)
    return Drawing(fig, table, (*gone, *choices.describe_per_domain(picks, algorithms)))


def stacks(sweeps: Sweeps, algorithms: Sequence[str], title: str) -> Drawing:
    """All domains, an algorithm a row; the table has a row for each run."""
    picks = choices.per_domain(sweeps, algorithms)
    table = choices.chosen(sweeps.performances(algorithms), picks)
    columns, rows = table["domain"].n_unique(), len(panels.there(algorithms, table))
    with style.figure(max(5.2, 1.2 + 2.2 * columns), 1.5 + 1.25 * rows) as fig:
        panels.run_stacks(fig, table, algorithms)
        gone = panels.head(fig, title, sweeps, algorithms)
    return Drawing(fig, table, (*gone, *choices.describe_per_domain(picks, algorithms)))
