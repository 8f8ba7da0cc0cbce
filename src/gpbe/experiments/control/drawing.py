"""Drawings of the control figures (paper, section 9 and the appendix on voting), each of its table alone."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gpbe import analysis
from gpbe.analysis.labels import look_of
from gpbe.envs.domains import domains_in, title_of
from gpbe.experiments.control import BAKEOFF, BASES, FORMS, UPDATES
from gpbe.figures import looks, panels, style
from gpbe.wording import as_math

FADED = 0.28
KEY = ("domain", "algorithm", "setting")


def draw_bakeoff(table: pl.DataFrame) -> Figure:
    return curves_figure(table, BAKEOFF, "One setting for all domains (Condorcet vote): mean return and standard error")


def draw_without_lander(table: pl.DataFrame) -> Figure:
    return curves_figure(
        table, BAKEOFF, "One setting for all domains, Lunar Lander without a vote: mean return and standard error"
    )


def draw_runoff(table: pl.DataFrame) -> Figure:
    return curves_figure(table, BAKEOFF, "One setting for all domains (instant runoff): mean return and standard error")


def draw_tuned(table: pl.DataFrame) -> Figure:
    return curves_figure(table, BAKEOFF, "The best setting of each domain: mean return and standard error")


def draw_hyperparameters(table: pl.DataFrame) -> Figure:
    return violins_figure(table, BAKEOFF, "Mean return of each hyperparameter setting")


def draw_policies(table: pl.DataFrame) -> Figure:
    title = "Action values (QRC, SBEED-Q) and policies (TDRC-PG, SBEED): mean return of each setting"
    return violins_figure(table, UPDATES, title)


def draw_saddlepoint(table: pl.DataFrame) -> Figure:
    title = "Gradient correction (QRC) and saddlepoint (GQ, GQ-Grad): runs of the best settings (dashed: mean)"
    return stacks_figure(table, FORMS, title)


def draw_basis(table: pl.DataFrame) -> Figure:
    title = "h shared (QRC), separate (QRC-Sep), of gradients (QRC-Grad): runs of the best settings (dashed: mean)"
    return stacks_figure(table, BASES, title)


def draw_runs(table: pl.DataFrame) -> Figure:
    """One domain: an algorithm a row."""
    with style.figure(5.8, 1.4 + 1.25 * len(panels.there(BAKEOFF, table))) as fig:
        panels.run_stacks(fig, table, BAKEOFF)
        fig.suptitle("Runs of the best setting (dashed: their mean)", fontsize=10)
    return fig


def draw_step_sizes(table: pl.DataFrame) -> Figure:
    """Rows of step sizes, columns of domains; the other hyperparameters are the best for each step size."""
    histograms, densities = analysis.run_histograms(table), analysis.run_densities(table)
    picks = table.select(*KEY, "step_size", "best").unique(maintain_order=True)
    sizes, domains = picks["step_size"].unique().sort().to_list(), domains_in(table["domain"])
    shown = panels.there(BAKEOFF, table)
    with style.figure(max(5.2, 1.0 + 2.1 * len(domains)), 1.6 + 1.25 * len(sizes)) as fig:
        axes = fig.subplots(len(sizes), len(domains), sharex="col", squeeze=False)
        for row, size in enumerate(sizes):
            for column, domain in enumerate(domains):
                axis = axes[row, column]
                for pick in picks.filter(step_size=size, domain=domain).rows(named=True):
                    mine = {name: pick[name] for name in KEY}
                    base = len(shown) - 1 - shown.index(pick["algorithm"])
                    _ridge(axis, histograms.filter(**mine), densities.filter(**mine), base, pick)
                axis.set_yticks(range(len(shown)), [])
                axis.tick_params(axis="y", length=0)
                axis.set_ylim(-0.1, len(shown))
                axis.spines["left"].set_visible(False)
            axes[row, 0].set_ylabel(f"step size {as_math(size)}", fontsize=9)
        for column, domain in enumerate(domains):
            axes[0, column].set_title(title_of(domain))
            axes[-1, column].xaxis.set_major_locator(MaxNLocator(3))
            axes[-1, column].set_xlabel(panels.LATE_RETURN.replace(", ", ",\n"), fontsize=9)
        fig.legend(handles=looks.patches(map(look_of, shown)), loc="outside lower center", ncols=len(shown))
        fig.suptitle("Runs for every step size, the best of each algorithm and domain in full color", fontsize=10)
    return fig


def _ridge(axis: Axes, bars: pl.DataFrame, outline: pl.DataFrame, base: int, pick: dict[str, Any]) -> None:
    """One distribution that stands on its own line, as high as the next."""
    bin_width = bars["high"][0] - bars["low"][0]
    highest = max(bars["proportion"].to_numpy().max(), bin_width * outline["density"].to_numpy().max())
    color, alpha = looks.color_of(look_of(pick["algorithm"])), 1.0 if pick["best"] else FADED
    panels.distribution(axis, bars, outline, color, float(base), float(0.9 / highest), alpha)


def curves_figure(table: pl.DataFrame, algorithms: Sequence[str], title: str) -> Figure:
    """Mean and standard error of one setting an algorithm, a panel for each domain."""
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.curve_panels(fig, table, algorithms)
        fig.suptitle(title, fontsize=10)
    return fig


def violins_figure(table: pl.DataFrame, algorithms: Sequence[str], title: str) -> Figure:
    """Violins of the settings' mean returns, a panel for each domain."""
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.violin_panels(fig, table, algorithms)
        fig.suptitle(title, fontsize=10)
    return fig


def stacks_figure(table: pl.DataFrame, algorithms: Sequence[str], title: str) -> Figure:
    """All domains, an algorithm a row."""
    columns, rows = table["domain"].n_unique(), len(panels.there(algorithms, table))
    with style.figure(max(5.2, 1.2 + 2.2 * columns), 1.5 + 1.25 * rows) as fig:
        panels.run_stacks(fig, table, algorithms)
        fig.suptitle(title, fontsize=10)
    return fig
