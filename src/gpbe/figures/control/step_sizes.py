"""How performance is spread over runs, for every step size (paper, section 9.3)."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gpbe import analysis
from gpbe.figures import style
from gpbe.figures.control import choices, looks, panels
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps

ALGORITHMS = EXPERIMENTS["bakeoff"]
FADED = 0.28


def draw(sweeps: Sweeps) -> Drawing:
    """Rows of step sizes, columns of domains; the other hyperparameters are the best for each step size."""
    performances = sweeps.performances(ALGORITHMS)
    picks = analysis.sensitivity(performances)
    key = ["domain", "algorithm", "setting"]
    table = choices.chosen(performances, picks).join(picks.select(*key, "best"), on=key, maintain_order="left")
    histograms, densities = analysis.run_histograms(table), analysis.run_densities(table)
    sizes, domains = picks["step_size"].unique().sort().to_list(), looks.domains_in(table["domain"])
    shown = panels.there(ALGORITHMS, table)
    width = max(5.2, 1.0 + 2.1 * len(domains))
    with style.figure(width, 1.6 + 1.25 * len(sizes)) as fig:
        axes = fig.subplots(len(sizes), len(domains), sharex="col", squeeze=False)
        for row, size in enumerate(sizes):
            for column, domain in enumerate(domains):
                axis = axes[row, column]
                for pick in picks.filter(step_size=size, domain=domain).rows(named=True):
                    mine = {name: pick[name] for name in key}
                    base = len(shown) - 1 - shown.index(pick["algorithm"])
                    _ridge(axis, histograms.filter(**mine), densities.filter(**mine), base, pick)
                axis.set_yticks(range(len(shown)), [])
                axis.tick_params(axis="y", length=0)
                axis.set_ylim(-0.1, len(shown))
                axis.spines["left"].set_visible(False)
            axes[row, 0].set_ylabel(f"step size {looks.power(size)}", fontsize=9)
        for column, domain in enumerate(domains):
            axes[0, column].set_title(looks.title_of(domain))
            axes[-1, column].xaxis.set_major_locator(MaxNLocator(3))
            axes[-1, column].set_xlabel(panels.LATE_RETURN.replace(", ", ",\n"), fontsize=9)
        fig.legend(handles=looks.patches(shown), loc="outside lower center", ncols=len(shown))
        title = "Runs for every step size, the best of each algorithm and domain in full color"
        gone = panels.head(fig, title, sweeps, ALGORITHMS)
    return Drawing(fig, table, gone)


def _ridge(axis: Axes, bars: pl.DataFrame, outline: pl.DataFrame, base: int, pick: dict) -> None:
    """One distribution that stands on its own line, as high as the next."""
    bin_width = bars["high"][0] - bars["low"][0]
    highest = max(float(bars["proportion"].max()), bin_width * float(outline["density"].max()))  # pyright: ignore
    color, alpha = looks.look_of(pick["algorithm"]).color, 1.0 if pick["best"] else FADED
    panels.distribution(axis, bars, outline, color, base, 0.9 / highest, alpha)
