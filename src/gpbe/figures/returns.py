"""Returns while an agent learns, for `gpbe train --out`."""

from collections.abc import Mapping

import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style
from gpbe.figures.learning import labels_of
from gpbe.summary import standard_error


def draw(returns: pl.DataFrame, title: str, labels: Mapping[int, str] | None = None) -> Figure:
    """The mean over runs with its standard error, and single runs behind it; of many settings, the best is colored.

    Settings are called by what was swept, if `labels` do not call them otherwise.
    """
    swept = returns.columns[1 : returns.columns.index("run")]
    settings = returns["setting"].unique(maintain_order=True).to_list()
    best = returns.group_by("setting").agg(pl.col("return").mean()).sort("return", descending=True)["setting"][0]
    few = len(settings) <= len(style.COLORS)
    called = labels_of(returns, swept) if labels is None else labels
    runs = returns["run"].n_unique()
    with style.figure(6.5, 4.2) as fig:
        axis = fig.subplots()
        for k, setting in enumerate(settings):
            rows = returns.filter(setting=setting).sort("run", "step")
            step = rows["step"].unique(maintain_order=True).to_numpy()
            single = rows["return"].to_numpy().reshape(-1, len(step)).astype(float)
            mean, error = single.mean(0), standard_error(single)
            shown = few or setting == best
            color = style.COLORS[k] if few else style.BLUE if shown else style.GREY
            label = called[setting] if shown and called else None
            if len(settings) == 1 and runs > 1:
                axis.plot(step, single.T, color=style.GREY, linewidth=0.6, alpha=0.5)
            axis.plot(step, mean, color=color, linewidth=1.8 if shown else 0.6, zorder=3 if shown else 1, label=label)
            if shown and runs > 1:
                axis.fill_between(step, mean - error, mean + error, color=color, alpha=0.2, linewidth=0, zorder=2)
        axis.set_xlabel("environment steps")
        axis.set_ylabel("return of the episode")
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        if called:
            fig.legend(loc="outside lower center", ncols=min(3, len(settings)), title=None if few else "best of these")
        what = f"mean of {runs} runs and standard error" if runs > 1 else "one run"
        fig.suptitle(f"{title}: {what}", fontsize=11, parse_math=False)
    return fig
