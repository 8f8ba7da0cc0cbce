"""The aliased example, learned: the wider H, the farther B and C go to meet A."""

import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style

LOOK = {"B": (style.BLUE, "-"), "A": (style.BLACK, "--"), "C": (style.GREEN, "-.")}


def draw(table: pl.DataFrame) -> Figure:
    """A panel for each H: values over updates, run by run, their mean, and the exact solution."""
    sets = table["set"].unique(maintain_order=True).to_list()
    last = int(table["step"].to_numpy().max())
    with style.figure(8.6, 3.6) as fig:
        axes = fig.subplots(1, len(sets), sharex=True, sharey=True)
        for axis, name in zip(axes, sets, strict=True):
            for observation, (color, dashes) in LOOK.items():
                rows = table.filter(set=name, observation=observation).sort("run", "step")
                runs = rows["run"].n_unique()
                value = rows["value"].to_numpy().reshape(runs, -1)
                steps = rows["step"].to_numpy()[: value.shape[1]]
                axis.plot(steps, value.T, color=color, linewidth=0.5, alpha=0.35)
                axis.plot(
                    steps, value.mean(0), dashes, color=color, linewidth=2, label=f"learned value of {observation}"
                )
                label = "exact solution of that H" if observation == "C" else None
                axis.axhline(rows["exact"][0], color=style.GREY, linewidth=1.2, linestyle=":", zorder=1, label=label)
            axis.set_title(name, fontsize=10)
            axis.set_xlabel("updates")
            axis.set_xlim(0, last)
            axis.set_xticks([0, last // 2], labels=["0", f"{last // 2}"])
            axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes[0].set_ylabel("value")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        fig.suptitle("Aliased states, learned by a network with TDC: as H tells them apart, B and C move", fontsize=11)
    return fig
