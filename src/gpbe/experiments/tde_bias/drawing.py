"""The bias of the TD error on a small walk."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style


def draw(table: pl.DataFrame) -> Figure:
    """Left the values of each solution, right what its TDE is made of."""
    tde, be, pbe = (table.filter(objective=objective) for objective in ("tde", "be", "pbe"))
    with style.figure(6.5, 3.7) as fig:
        left, right = fig.subplots(1, 2, width_ratios=[1.6, 1])
        left.axhline(0, color=style.GREY, linewidth=0.8)
        left.plot(tde["state"], tde["true_value"], color=style.BLACK, label="$v_\\pi$")
        left.plot(be["state"], be["value"], "s", color=style.GREEN, markersize=9, label="BE's solution")
        left.plot(pbe["state"], pbe["value"], "o", color=style.BLUE, markersize=5, label="PBE's solution")
        left.plot(tde["state"], tde["value"], "D-", color=style.RED, markersize=6, label="TDE's solution")
        left.set_xlabel("state")
        left.set_ylabel("value")
        left.set_title(f"solutions; $\\|v_{{\\mathrm{{TDE}}}} - v_\\pi\\|_2$ = {tde['distance'][0]:.4f}", fontsize=10)
        bellman, variance = ([rows[part][0] for rows in (be, tde)] for part in ("bellman_error", "variance"))
        right.bar([0, 1], variance, 0.55, color=style.ORANGE, label="variance of $R + \\gamma v(S')$ (bars)")
        right.bar([0, 1], bellman, 0.55, bottom=variance, color=style.PURPLE, label="BE (bars)")
        for k, rows in enumerate((be, tde)):
            right.annotate(
                f"{rows['td_error'][0]:.4f}",
                (k, rows["td_error"][0]),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
            )
        right.set_xticks([0, 1], labels=["$v_\\pi$", "$v_{\\mathrm{TDE}}$"])
        right.set_xlim(-0.6, 1.6)
        right.set_ylim(0, 1.15 * be["td_error"][0])
        right.set_ylabel("TDE under uniform weights")
        right.set_title("what the TDE is made of", fontsize=10)
        right.grid(False, axis="x")
        fig.suptitle("Minimizing the TD error flattens the values, even in a table", fontsize=11)
        handles = [*left.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
        fig.legend(handles=handles, loc="outside lower center", ncols=3)
    return fig
