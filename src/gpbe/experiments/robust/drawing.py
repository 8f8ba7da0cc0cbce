"""Outliers: the error in all other states, over their size, over their number, and while learning."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpbe.experiments.robust.computation import HUBER, LEARNERS, NUMBER, SIZE, STATES
from gpbe.figures import style

LOOK = {
    "BE": (style.GREEN, (), "BE"),
    "PBE, H = F": (style.ORANGE, (4.0, 3.0), "PBE, H = F"),
    "VE": (style.BLACK, (1.2, 2.4), "VE"),
    "Huber BE": (style.BLUE, (), f"Huber BE, threshold {HUBER:g}"),
    "absolute BE": (style.RED, (), "absolute BE"),
}
FLOOR = 1e-4
"""Errors below are drawn there: those of the absolute BE are 0 but for rounding."""


def draw(table: pl.DataFrame) -> Figure:
    """Three panels: medians and quartiles over draws, and medians over runs at each step size with the exact minima."""
    with style.figure(8.6, 3.5) as fig:
        size, number, learned = fig.subplots(1, 3, sharey=True)
        for axis, panel in ((size, "size"), (number, "number")):
            for loss, (color, dashes, label) in LOOK.items():
                _spread(axis, table.filter(panel=panel, loss=loss), color, dashes, label)
        size.set(xscale="log", yscale="log", ylim=(0.7 * FLOOR, 20))
        size.set_xlabel(f"size of {NUMBER} outliers")
        size.set_ylabel(f"error in the other states\n({FLOOR:g} is also anything below)", fontsize=9)
        number.set_xlabel(f"outliers among {STATES} states\n(size {SIZE:g})")
        _learned(learned, table.filter(panel="learned"))
        _levels(learned, table.filter(panel="number", at=float(NUMBER), draw=0))
        for axis, title in ((size, "exact minima"), (number, "exact minima"), (learned, "learned, H = everything")):
            axis.set_title(title, fontsize=10)
        fig.legend(*size.get_legend_handles_labels(), loc="outside lower center", ncols=len(LOOK))
        fig.suptitle(
            "Outliers in Bellman errors spoil squared losses, and robust ones only if they are many", fontsize=11
        )
    return fig


def _spread(axis: Axes, rows: pl.DataFrame, color: str, dashes: tuple[float, ...], label: str) -> None:
    quartiles = rows.group_by("at").agg(
        *(pl.col("error").quantile(q, "linear").clip(FLOOR).alias(str(q)) for q in (0.25, 0.5, 0.75))
    )
    quartiles = quartiles.sort("at")
    axis.fill_between(quartiles["at"], quartiles["0.25"], quartiles["0.75"], color=color, alpha=0.15, linewidth=0)
    axis.plot(quartiles["at"], quartiles["0.5"], color=color, dashes=dashes or (None, None), label=label)


def _learned(axis: Axes, rows: pl.DataFrame) -> None:
    """A line for each loss and step size, thicker for larger steps; a run that diverged has an infinite error."""
    last = float(rows["at"].to_numpy().max())
    step_sizes = rows["step_size"].unique().sort().to_list()
    for loss in rows["loss"].unique(maintain_order=True):
        for rank, step_size in enumerate(step_sizes):
            curve = rows.filter(loss=loss, step_size=step_size).with_columns(pl.col("error").fill_null(np.inf))
            curve = curve.group_by("at").agg(pl.col("error").median()).sort("at")
            axis.plot(curve["at"], curve["error"], color=LOOK[loss][0], linewidth=0.7 + 0.7 * rank)
    axis.set_xlim(0, last)
    axis.set_xticks([0, last / 2, last], labels=["0", f"{last / 2:g}", f"{last:g}"])
    shown = ", ".join(f"{step_size:g}" for step_size in step_sizes)
    axis.set_xlabel(f"updates\n(steps {shown}: thin to thick)")


def _levels(axis: Axes, rows: pl.DataFrame) -> None:
    """The exact minima of what is learned."""
    for loss in LEARNERS:
        for error in rows.filter(loss=loss)["error"]:
            axis.axhline(error, color=style.GREY, linewidth=1.2, linestyle=":", zorder=1)
