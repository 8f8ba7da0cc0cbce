"""Kolter's example: how bad each solution is, over all behaviors, as H grows."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpbe.figures import style


def draw(table: pl.DataFrame) -> Figure:
    """A panel for each ridge, H growing to the right; the other solutions are the same in all panels."""
    grown = table.filter(objective="pbe", weighting="behavior")
    ridges = grown["ridge"].unique().sort(descending=True).to_list()
    with style.figure(8.6, 3.5) as fig:
        axes = fig.subplots(1, len(ridges), sharex=True, sharey=True)
        for axis, ridge in zip(axes, ridges, strict=True):
            axis.axvline(table["pole"][0], color=style.GREY, linewidth=0.8, linestyle=":")
            _line(axis, table.filter(objective="be"), style.GREEN, "BE", linewidth=4, alpha=0.45)
            _line(axis, table.filter(weighting="emphatic"), style.ORANGE, "PBE, H = F, weighted by $m$")
            _line(axis, table.filter(objective="ve"), style.BLACK, "best representable", linestyle="--")
            _line(axis, grown.filter(ridge=ridge), style.BLUE, "PBE, this panel's H, weighted by $d_b$")
            axis.set_title(_size(ridge), fontsize=10)
        axes[0].set(yscale="log", ylim=(1e-7, 1e5), xlim=(0, 1))
        axes[0].set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        axes[0].set_ylabel("value error VE under $d_b$")
        axes[0].annotate(
            f"$p$ = {table['pole'][0]:.6f}",
            (table["pole"][0], 2e4),
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8,
        )
        axes[len(axes) // 2].set_xlabel("behavior: probability $p$ of the first state")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        fig.suptitle("Kolter's example: the PBE's explosion shrinks as H grows from F to everything", fontsize=11)
    return fig


def _line(axis: Axes, rows: pl.DataFrame, color: str, label: str, **options) -> None:
    rows = rows.sort("p")
    axis.plot(rows["p"], rows["value_error"], color=color, label=label, **options)


def _size(ridge: float) -> str:
    match ridge:
        case np.inf:
            return "H = F\nridge $\\infty$"
        case 0.0:
            return "H = everything\nridge 0"
    return f"\nridge {ridge:g}"
