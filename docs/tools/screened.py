"""Learning curves of the screening, for the pages of algorithms: all of its settings, so that nothing is chosen.

The curve of a best setting is flattered by its choice. So the mean over all that were screened is shown with quartiles,
and the best one only thinly, marked as chosen by the same runs.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gpbe import experiments
from gpbe.analysis.labels import look_of
from gpbe.envs.domains import domains_in, title_of
from gpbe.figures import looks, style

STAGE, REFERENCE = "evidence-screen", "qrc"
GROUP = 4
"""Recorded returns that are averaged into one point of a curve."""
DOTTED = (0, (1.0, 2.0))
"""Dots that are seen as dots where a line is thin."""
SHOWN = {
    "screened-values": ("q-learning", "qrc", "qrc-sep", "qrc-grad", "qc-ll", "gq", "gq-grad"),
    "screened-policies": ("sbeed", "sbeed-q", "tdrc-pg"),
}
"""The pictures, and which algorithms each has."""

Curves = dict[tuple[str, str], np.ndarray]


def draw(name: str, results: Path) -> Figure:
    """One of the pictures: a row for each algorithm, a column for each domain."""
    curves, every = curves_of(results, (*SHOWN[name], REFERENCE))
    domains = domains_in(pl.Series(sorted({domain for domain, _ in curves})))
    rows = SHOWN[name]
    with style.figure(8.0, 1.2 + 1.25 * len(rows)) as figure:
        axes = figure.subplots(len(rows), len(domains), sharex=True, sharey="col", squeeze=False)
        for column, domain in enumerate(domains):
            for row, algorithm in enumerate(rows):
                panel(axes[row, column], curves, domain, algorithm, every)
                if not column:
                    look = look_of(algorithm)
                    axes[row, 0].set_ylabel(look.label, color=looks.color_of(look), fontweight="bold")
            axes[0, column].set_title(title_of(domain))
            axes[-1, column].set_xticks([0, 50_000, 100_000], ["0", "50,000", "100,000"])
            axes[-1, column].set_xlabel("environment steps")
        figure.legend(handles=legend(), loc="outside lower center", ncols=4, handlelength=2.2)
    return figure


def curves_of(results: Path, algorithms: Sequence[str]) -> tuple[Curves, int]:
    """Means over runs, (settings, points), by domain and algorithm, where all of them are there; steps of a point."""
    runs = experiments.open_packed(results).stages[STAGE].lazy().filter(pl.col("algorithm").is_in(list(algorithms)))
    columns = ("domain", "algorithm", "setting", "run", "every", "returns")
    table = runs.select(*columns).sort("setting", "run").collect()
    found: Curves = {}
    for (domain, algorithm), mine in table.group_by("domain", "algorithm", maintain_order=True):
        returns = np.array(mine["returns"].to_list())
        whole = returns.reshape(mine["setting"].n_unique(), mine["run"].n_unique(), -1, GROUP)
        found[str(domain), str(algorithm)] = whole.mean(axis=(1, 3))
    most = {name: max(len(c) for (_, each), c in found.items() if each == name) for _, name in found}
    return {key: c for key, c in found.items() if len(c) == most[key[1]]}, int(table["every"][0]) * GROUP


def panel(axis: Axes, curves: Curves, domain: str, algorithm: str, every: int) -> None:
    """All settings of an algorithm in a domain, and the reference behind them."""
    axis.tick_params(labelsize=8)
    if (domain, algorithm) not in curves:
        axis.text(0.5, 0.5, "not all run yet", ha="center", color=style.GREY, transform=axis.transAxes, fontsize=9)
        axis.set_yticks([])
        return
    mine, color = curves[domain, algorithm], looks.color_of(look_of(algorithm))
    steps = every * (np.arange(mine.shape[1]) + 0.5)
    low, high = np.quantile(mine, (0.25, 0.75), axis=0)
    axis.fill_between(steps, low, high, color=color, alpha=0.22, linewidth=0)
    if algorithm != REFERENCE:
        axis.plot(steps, curves[domain, REFERENCE].mean(0), color=style.GREY, linewidth=1.2)
    axis.plot(steps, mine[mine.mean(1).argmax()], color=color, linewidth=0.9, linestyle=DOTTED)
    axis.plot(steps, mine.mean(0), color=color, linewidth=2)


def legend() -> list[Line2D | Patch]:
    """What the lines are."""
    black, grey = style.BLACK, style.GREY
    return [
        Line2D([], [], color=black, linewidth=2, label="mean of all settings"),
        Patch(color=black, alpha=0.22, linewidth=0, label="half of the settings"),
        Line2D([], [], color=black, linewidth=0.9, linestyle=DOTTED, label="the best, chosen by these runs"),
        Line2D([], [], color=grey, linewidth=1.2, label=f"mean of {look_of(REFERENCE).label}"),
    ]
