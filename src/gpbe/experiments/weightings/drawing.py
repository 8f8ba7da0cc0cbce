"""Three weightings on two problems."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style

LOOK = {
    "behavior": ("$d_b$: where the behavior is", style.BLUE),
    "target": ("$d_\\pi$: where the target would be", style.GREEN),
    "emphatic": ("$m$: emphatic, $\\lambda = 0$", style.ORANGE),
}


def draw(table: pl.DataFrame) -> Figure:
    """A panel for each problem, a group of bars for each state."""
    problems = table["problem"].unique(maintain_order=True).to_list()
    with style.figure(6.5, 3.2) as fig:
        axes = np.atleast_1d(fig.subplots(1, len(problems), width_ratios=[1, 1.25][: len(problems)]))
        for axis, problem in zip(axes, problems, strict=True):
            rows = table.filter(problem=problem)
            states = rows["state"].unique(maintain_order=True).to_list()
            for k, (weighting, (label, color)) in enumerate(LOOK.items()):
                weights = rows.filter(weighting=weighting)["weight"]
                axis.bar(np.arange(len(states)) + 0.27 * (k - 1), weights, 0.25, color=color, label=label)
            axis.set_xticks(range(len(states)), [s.replace(" ", "\n") for s in states], fontsize=8)
            axis.set_title(problem, fontsize=10)
            axis.set_xlabel("state")
            axis.grid(False, axis="x")
        axes[0].set_ylabel("weight, scaled to sum to 1")
        fig.suptitle("Emphasis: start where the behavior is, go on as the target would", fontsize=11)
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig
