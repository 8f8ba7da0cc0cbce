"""Estimates of one value, each with its interval, for `gpbe evaluate --out`."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style


def draw(estimates: pl.DataFrame, title: str) -> Figure:
    """A line for each estimator, the recommended one in blue; those without an interval are only named."""
    with style.figure(6.5, 1.2 + 0.32 * len(estimates)) as fig:
        axis = fig.subplots()
        for k, row in enumerate(estimates.iter_rows(named=True)):
            color = style.BLUE if row["recommended"] else style.GREY
            if row["low"] is not None and row["low"] == row["low"]:
                axis.plot([row["low"], row["high"]], [k, k], color=color, linewidth=2.2, solid_capstyle="butt")
                axis.plot(row["value"], k, "o", color=color, markersize=5)
        axis.set_yticks(range(len(estimates)), estimates["estimator"].to_list())
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlabel(f"value of the target policy, {100 * estimates['level'][0]:g} % intervals")
        fig.suptitle(title, fontsize=11)
    return fig
