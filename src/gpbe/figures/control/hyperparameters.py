"""How performance is spread over hyperparameter settings (paper, section 9.2)."""

from collections.abc import Sequence

import polars as pl

from gpbe import analysis
from gpbe.figures import style
from gpbe.figures.control import panels
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps


def draw(sweeps: Sweeps) -> Drawing:
    return violins(sweeps, EXPERIMENTS["bakeoff"], "Mean return of each hyperparameter setting")


def violins(sweeps: Sweeps, algorithms: Sequence[str], title: str) -> Drawing:
    """Violins of the settings' mean returns over all of learning; the table has a row for each setting, best first."""
    performances = sweeps.performances(algorithms, last=1.0)
    table = analysis.setting_means(performances).sort(
        "domain", "algorithm", pl.col("mean"), descending=[False, False, True]
    )
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.violin_panels(fig, performances, algorithms)
        gone = panels.head(fig, title, sweeps, algorithms)
    return Drawing(fig, table, gone)
