"""The identifiability pair, learned: who tells the problems apart has seen more than the data."""

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from gpbe.figures import style

PROBLEM = {
    "identifiability-1": ("B is one state", style.BLUE, "o", 20),
    "identifiability-2": ("B is two states", style.ORANGE, "s", 12),
}
OUTLINE = [withStroke(linewidth=3.4, foreground=style.WHITE)]
"""So that a cross shows on top of many points."""
OBJECTIVE = {"ibe": "identifiable BE", "tde": "TDE", "be": "BE"}


def draw(table: pl.DataFrame) -> Figure:
    """A panel for each method: the values that each run learned, and where the objective is least."""
    methods = table["method"].unique(maintain_order=True).to_list()
    with style.figure(9.2, 3.5) as fig:
        axes = fig.subplots(1, len(methods), sharex=True, sharey=True)
        for axis, method in zip(axes, methods, strict=True):
            rows = table.filter(method=method)
            for name, (label, color, marker, size) in PROBLEM.items():
                one = rows.filter(problem=name)
                axis.plot(
                    one["value_a"],
                    one["value_b"],
                    marker,
                    color=color,
                    markersize=4,
                    alpha=0.5,
                    markeredgewidth=0,
                    label=f"learned: {label}",
                )
                exact = (one["exact_a"][0], one["exact_b"][0])
                axis.plot(
                    *exact,
                    "+",
                    color=color,
                    markersize=size,
                    markeredgewidth=2.2,
                    zorder=3,
                    path_effects=OUTLINE,
                    label=f"least: {label}",
                )
            axis.set_title(f"{method}\n{OBJECTIVE[rows['objective'][0]]}\nfrom {rows['sees'][0]}", fontsize=9)
            axis.set_xlabel("value of A")
            axis.margins(0.15)
        axes[0].set_ylabel("value of B")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        fig.suptitle("One stream of data from two problems: what is learned in each", fontsize=11)
    return fig
