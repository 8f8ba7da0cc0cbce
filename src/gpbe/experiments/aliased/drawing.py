"""The aliased example: the more H tells two alike states apart, the worse the states after them."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style


def draw(table: pl.DataFrame) -> Figure:
    """Left the values of each state at the ends and half way, right those of B and C over the size of H."""
    states = table["state"].unique(maintain_order=True).to_list()
    shares = table["share"].unique().sort().to_numpy()
    middle = float(shares[len(shares) // 2])
    solutions = (
        (0.0, "PBE: H = F", style.BLUE, "o"),
        (middle, f"PBE: ridge {1 / middle - 1:g}", style.PURPLE, "D"),
        (1.0, "BE: H = everything", style.GREEN, "s"),
    )
    with style.figure(6.5, 3.6) as fig:
        left, right = fig.subplots(1, 2, sharey=True, width_ratios=[1.3, 1])
        at = np.arange(len(states))
        truth = table.filter(share=0.0)["true_value"]
        left.hlines(truth, at - 0.36, at + 0.36, color=style.BLACK, linewidth=1.4, label="true value")
        for k, (share, label, color, marker) in enumerate(solutions):
            values = table.filter(share=share)["value"]
            left.plot(at + 0.24 * (k - 1), values, marker, color=color, markersize=7, label=label)
        left.set_xticks(at, [f"${s[0]}_{s[1]}$" if len(s) > 1 else f"${s}$" for s in states])
        left.set_xlabel("state\n($A_1$ and $A_2$ look alike)")
        left.set_ylabel("value")
        left.grid(False, axis="x")
        for state, value, beside in (("B", 1.0, -12), ("C", 0.0, 12)):
            rows = table.filter(state=state).sort("share")
            right.axhline(value, color=style.BLACK, linewidth=1.4)
            right.plot(rows["share"], rows["value"], color=style.GREY)
            for share, _, color, marker in solutions:
                right.plot(share, rows.filter(share=share)["value"].item(), marker, color=color, markersize=7)
            right.annotate(f"${state}$", (0.75, value), xytext=(0, beside), textcoords="offset points", va="center")
        right.set_xlabel("counted share of the penalty,\n1 / (1 + ridge)")
        right.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        right.set_xlim(-0.08, 1.08)
        left.set_yticks([0, 0.25, 0.5, 0.75, 1])
        fig.suptitle("Backwards bootstrapping: as H tells $A_1$ from $A_2$, $B$ and $C$ move to meet them", fontsize=11)
        fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return fig
