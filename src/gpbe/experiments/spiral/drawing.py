"""The spiral: which updates leave, and which find the way in."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from gpbe.figures import style

COLORS = (style.RED, style.BLUE, style.GREEN, style.PURPLE)
STYLES = ("-", "--", "-", "-.")
MOST_RUNS = 20
"""Drawn one by one; the median is that of all."""


def draw(table: pl.DataFrame) -> Figure:
    """A panel for each kind of h: error over updates, run by run, and the median."""
    panels = table["panel"].unique(maintain_order=True).to_list()
    with style.figure(8.6, 4.2) as fig:
        axes = fig.subplots(1, len(panels), sharex=True, sharey=True)
        for axis, panel in zip(axes, panels, strict=True):
            rows = table.filter(panel=panel)
            methods = rows["method"].unique(maintain_order=True).to_list()
            for method, color, dashes in zip(methods, COLORS, STYLES, strict=False):
                one = rows.filter(method=method)
                runs = one["run"].n_unique()
                error = np.where(one["escaped"], np.nan, one["relative_error"]).reshape(runs, -1)
                left = one["escaped"].to_numpy().reshape(runs, -1)
                steps = one["step"].to_numpy()[: error.shape[1]]
                # A run leaves through the top of the frame; what it does outside is an accident of the step size.
                leaves = left & ~np.roll(left, 1, axis=1)
                leaves[:, 0] = left[:, 0]
                error = np.where(leaves, 9.0, error)
                axis.plot(steps, error[:MOST_RUNS].T, dashes, color=color, linewidth=0.4, alpha=0.35)
                gone = left.mean(0) > 0.5
                middle = np.where(gone, np.nan, np.nanmedian(np.where(left, np.inf, error), axis=0))
                label = method.replace("beta", "$\\beta$ =")
                if gone.any():
                    middle[gone.argmax()] = 9.0
                    label += f"\n({int(left[:, -1].sum())} of {runs} runs diverge)"
                axis.plot(steps, middle, dashes, color=color, linewidth=2.2, label=label)
            axis.set_title(panel, fontsize=10)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_ylim(0.08, 3)
            axis.set_yticks([0.1, 0.3, 1, 3], labels=["0.1", "0.3", "1", "3"])
            axis.tick_params(which="minor", length=0)
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.yaxis.set_minor_formatter(NullFormatter())
            axis.set_xlabel("updates")
            axis.legend(loc="lower left", fontsize=8)
        axes[0].set_ylabel("value error (RMS), relative to the start")
        runs = table["run"].n_unique()
        fig.suptitle(f"Tsitsiklis and Van Roy's spiral: single runs and median of {runs}", fontsize=11)
    return fig
