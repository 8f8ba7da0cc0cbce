"""The worked example of prior and posterior corrections, as a table on a page."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpbe.figures import style

HEADS = ("$t$", "transition", "action", "$\\rho_t$", "weight on $\\mathbf{x}_t$", "$z_t(x)$", "$z_t(y)$", "updates")
PLACES = (0.03, 0.15, 0.31, 0.42, 0.56, 0.70, 0.82, 0.94)
"""Middles of the columns, in fractions of the width."""


def draw(table: pl.DataFrame) -> Figure:
    """A block for each trajectory and method, a line for each transition."""
    blocks = table.partition_by("trajectory", "method", maintain_order=True)
    lines = sum(len(block) + 1.5 for block in blocks)
    with style.figure(7.4, 0.24 * (lines + 1) + 0.4) as fig:
        axis = fig.subplots()
        axis.set_axis_off()
        axis.set_xlim(0, 1)
        axis.set_ylim(lines, -1)
        for place, head in zip(PLACES, HEADS, strict=True):
            axis.text(place, -0.4, head, ha="center", va="center", fontsize=10)
        axis.plot([0, 1], [0.25, 0.25], color=style.BLACK, linewidth=1)
        y = 1.0
        for block in blocks:
            y = _block(axis, block, y)
        fig.suptitle("Traces with posterior corrections only, and with prior corrections too", fontsize=11)
    return fig


def _block(axis: Axes, block: pl.DataFrame, y: float) -> float:
    """Draw one block from line `y` on; returns where the next begins."""
    alternative = block["method"][0] != "off-policy TD"
    color = style.RED if alternative else style.BLUE
    axis.text(0, y, f"{block['trajectory'][0]}:  {block['method'][0]}($\\lambda$)", color=color, va="center")
    for k, row in enumerate(block.iter_rows(named=True), start=1):
        moved = [s for s in ("x", "y") if row[f"z_{s}_in_lambda"] != "0"]
        cells = (
            row["t"],
            row["transition"],
            row["action"],
            f"{row['rho']:g}",
            f"{row['weight']:g}",
            row["z_x_in_lambda"],
            row["z_y_in_lambda"],
            ", ".join(moved) or "nothing",
        )
        for place, cell in zip(PLACES, cells, strict=True):
            axis.text(place, y + k, str(cell), ha="center", va="center", color=style.BLACK if moved else style.GREY)
    end = y + len(block) + 0.7
    axis.plot([0, 1], [end, end], color=style.GREY, linewidth=0.5)
    return end + 0.8
