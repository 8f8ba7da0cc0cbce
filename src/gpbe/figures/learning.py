"""Learning curves of one algorithm or several, for `gpbe predict --out`."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.figures import style
from gpbe.wording import by_setting


def draw(curves: pl.DataFrame, title: str, labels: Mapping[int, str] | None = None) -> Figure:
    """A panel for each metric. Up to seven settings have a color each; of more, the best of the panel has one.

    Settings are called by what was swept, if `labels` do not call them otherwise.
    """
    metrics = curves["metric"].unique(maintain_order=True).to_list()
    swept = curves.columns[1 : curves.columns.index("metric")]
    settings = curves["setting"].unique(maintain_order=True).to_list()
    few = len(settings) <= len(style.COLORS)
    called = labels_of(curves, swept) if labels is None else labels
    with style.figure(4.3 * len(metrics) + 0.4, 4.0) as fig:
        axes = fig.subplots(1, len(metrics), squeeze=False)[0]
        for axis, metric in zip(axes, metrics, strict=True):
            rows = curves.filter(metric=metric)
            best = rows.group_by("setting", maintain_order=True).agg(pl.col("mean").mean()).sort("mean")["setting"][0]
            for k, color in zip(settings, cycle(style.COLORS), strict=False):
                curve = rows.filter(setting=k)
                step, mean, error = (curve[c].fill_null(0).to_numpy() for c in ("step", "mean", "standard_error"))
                shown = few or k == best
                label = called[k] if shown and called else None
                axis.plot(
                    step,
                    np.where(np.isfinite(mean), mean, np.nan),
                    color=color if few else style.BLUE if shown else style.GREY,
                    linewidth=1.6 if shown else 0.6,
                    alpha=1 if shown else 0.4,
                    zorder=3 if shown else 1,
                    label=label,
                )
                if shown:
                    low = np.maximum(mean - error, mean / 10)
                    axis.fill_between(
                        step, low, mean + error, alpha=0.2, linewidth=0, color=color if few else style.BLUE
                    )
            _frame(axis, rows)
            axis.set_xlabel("updates")
            axis.set_ylabel(metric)
            if called and not few:
                axis.legend(title="best of these", loc="upper right")
        if called and few:
            # A legend is filled column by column: with as many rows as it takes anyway, none is shorter by much.
            rows_needed = -(-len(settings) // (4 if labels is None else 3))
            fig.legend(
                *axes[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=-(-len(settings) // rows_needed),
            )
        fig.suptitle(f"{title}: mean over runs and standard error", fontsize=11, parse_math=False)
    return fig


def labels_of(table: pl.DataFrame, swept: Sequence[str]) -> dict[int, str]:
    """What to call each setting: its swept hyperparameters; nothing if none is swept."""
    written = by_setting(table, swept)
    settings = table["setting"].unique(maintain_order=True) if swept else ()
    return {k: ", ".join(f"{name} {written[name][k]}" for name in swept) for k in settings}


def _frame(axis, rows: pl.DataFrame) -> None:
    """Settings that diverge leave the frame; they do not set it."""
    mean = rows["mean"].to_numpy()
    first = rows.group_by("setting", maintain_order=True).first()["mean"].to_numpy()
    top = 5 * np.median(first[np.isfinite(first)]) if np.isfinite(first).any() else 1.0
    positive = mean[(mean > 0) & (mean < top)]
    if len(positive):
        axis.set_ylim(positive.min() / 1.2, min(top, 1.2 * positive.max()))
    style.plain_log(axis)
