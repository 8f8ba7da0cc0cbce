"""The drawing of learning curves on MinAtar."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.experiments.control.drawing import curves_figure
from gpbe.experiments.minatar import ALGORITHMS


def draw_minatar(table: pl.DataFrame) -> Figure:
    return curves_figure(table, ALGORITHMS, "MinAtar with replay, the best step size of each game: mean and error")
