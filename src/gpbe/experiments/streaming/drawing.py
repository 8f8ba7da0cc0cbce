"""Drawings of learning by streams: curves, and sensitivity to step size and lambda."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.experiments.control.drawing import curves_figure
from gpbe.experiments.streaming import ALGORITHMS
from gpbe.experiments.streaming.verdict import SENSITIVE
from gpbe.figures import panels, style


def draw_streaming(table: pl.DataFrame) -> Figure:
    return curves_figure(table, ALGORITHMS, "Traces without replay, the best setting of each domain: mean and error")


def draw_step_sizes(table: pl.DataFrame) -> Figure:
    return _sensitivity(table, "step_size", "Return by step size, with the best λ for each (95 % intervals over runs)")


def draw_lambdas(table: pl.DataFrame) -> Figure:
    return _sensitivity(table, "lam", "Return by λ, with the best step size for each (95 % intervals over runs)")


def draw_verdict(table: pl.DataFrame) -> Figure:
    return curves_figure(table, ALGORITHMS, "MinAtar by streams, fresh runs of the chosen step sizes: mean and error")


def draw_verdict_step_sizes(table: pl.DataFrame) -> Figure:
    return _sensitivity(table, "step_size", "MinAtar by streams, return by step size, λ 0.8: fresh runs", SENSITIVE)


def draw_verdict_lambdas(table: pl.DataFrame) -> Figure:
    return _sensitivity(table, "lam", "MinAtar by streams, return by λ, the chosen step size: fresh runs", SENSITIVE)


def _sensitivity(
    table: pl.DataFrame, hyperparameter: str, title: str, algorithms: tuple[str, ...] = ALGORITHMS
) -> Figure:
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.sensitivity_panels(fig, table, algorithms, hyperparameter)
        fig.suptitle(title, fontsize=10)
    return fig
