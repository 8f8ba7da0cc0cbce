"""Baird's star: what diverges and what does not, run by run."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.algorithms.linear import ALGORITHMS
from gpbe.figures import looks, style
from gpbe.wording import as_math

MOST_RUNS = 20
"""Drawn one by one; the mean is that of all."""


def draw(table: pl.DataFrame) -> Figure:
    """A column for each algorithm, the value error above and the projected Bellman error below."""
    algorithms = table["algorithm"].unique(maintain_order=True).to_list()
    runs = table["run"].n_unique()
    with style.figure(8.6, 4.8) as fig:
        axes = fig.subplots(2, len(algorithms), sharex=True, sharey="row")
        for column, algorithm in zip(axes.T, algorithms, strict=True):
            rows, look = table.filter(algorithm=algorithm), ALGORITHMS[algorithm].look
            color = looks.color_of(look)
            for axis, metric in zip(column, ("rmsve", "rmspbe"), strict=True):
                one = rows[metric].to_numpy().reshape(runs, -1)
                steps = rows["step"].to_numpy()[: one.shape[1]]
                axis.plot(steps, one[:MOST_RUNS].T, color=color, linewidth=0.5, alpha=0.35)
                axis.plot(steps, one.mean(0), color=color, linewidth=2.2)
                axis.set_yscale("log")
                axis.tick_params(which="minor", length=0)
            ratio = rows["ratio"][0]
            column[0].set_title(look.label + (f"\nratio {ratio:g}" if ratio is not None else "\n"), fontsize=10)
            column[1].set_xlim(0, table["step"].max())
            column[1].set_xticks([0, 1000, 2000, 3000], labels=["0", "", "2000", ""])
            column[1].set_xlabel("transitions")
        for axis, metric in zip(axes[:, 0], ("rmsve", "rmspbe"), strict=True):
            axis.set_ylabel(f"{style.METRIC[metric]} under $d_b$")
            low, high = axis.get_ylim()
            axis.set_yticks(10.0 ** np.arange(np.ceil(np.log10(low)), np.log10(high), 2))
            axis.set_ylim(low, high)
        size = as_math(table["step_size"][0])
        fig.suptitle(f"Baird's star, step size {size}: single runs and mean of {runs}", fontsize=11)
    return fig
