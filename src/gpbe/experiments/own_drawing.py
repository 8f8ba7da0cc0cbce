"""Drawings of a sweep of one's own, each of its table alone."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.experiments.control.drawing import curves_figure, stacks_figure, violins_figure
from gpbe.figures import panels, style


def _algorithms(table: pl.DataFrame) -> list[str]:
    return table["algorithm"].unique(maintain_order=True).to_list()


def draw_curves(table: pl.DataFrame) -> Figure:
    return curves_figure(table, _algorithms(table), "The best setting of each domain: mean return and standard error")


def draw_voted(table: pl.DataFrame) -> Figure:
    title = "One setting for all domains (Condorcet vote): mean return and standard error"
    return curves_figure(table, _algorithms(table), title)


def draw_settings(table: pl.DataFrame) -> Figure:
    return violins_figure(table, _algorithms(table), "Mean return of each hyperparameter setting")


def draw_runs(table: pl.DataFrame) -> Figure:
    return stacks_figure(table, _algorithms(table), "Runs of the best setting of each domain (dashed: their mean)")


def draw_sensitivity(table: pl.DataFrame) -> Figure:
    """The table says of which hyperparameter."""
    swept = table["swept"][0]
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.sensitivity_panels(fig, table, _algorithms(table), swept)
        said = f"Return by {panels.named_axis(swept)}, the best of the others for each (95 % intervals over runs)"
        fig.suptitle(said, fontsize=10)
    return fig
