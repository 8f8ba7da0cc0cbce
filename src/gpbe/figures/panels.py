"""The parts that figures of control share: panels of curves, violins, and stacks of distributions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gpbe import analysis
from gpbe.algorithms.records import Look
from gpbe.analysis.labels import label_of
from gpbe.analysis.settings import outlines_of, summary_of
from gpbe.envs.domains import domains_in, title_of
from gpbe.figures import looks, style
from gpbe.shapes import Array
from gpbe.wording import as_math

LATE_RETURN = "return, mean over the last 25 % of steps"
DOTS = 12
"""Violins of at most so many settings show each of them."""
LABELS = 6
"""Values that are labeled along an axis, at most."""
CROWDED = 5
"""Names of more algorithms than these stand upright below a panel."""


def there(algorithms: Sequence[str], table: pl.DataFrame) -> list[str]:
    """Those of the algorithms that the table has."""
    found = set(table["algorithm"])
    return [name for name in algorithms if name in found]


def curve_panels(fig: Figure, curves: pl.DataFrame, algorithms: Sequence[str]) -> None:
    """A panel for each domain: mean return and standard error of each algorithm."""
    domains, look = domains_in(curves["domain"]), looks.looks_of(algorithms)
    for axis, domain in zip(_panels(fig, len(domains)), domains, strict=True):
        for name in there(algorithms, rows := curves.filter(domain=domain)):
            _curve(axis, rows.filter(algorithm=name), look[name], top=name == "qrc")
        axis.set_title(title_of(domain))
        axis.set_xlim(0, float(rows["step"].to_numpy().max()))
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axis.set_xlabel("environment steps")
        if _leftmost(axis):
            axis.set_ylabel("return")
    _name_lines(fig, [look[name] for name in there(algorithms, curves)])


def _name_lines(fig: Figure, shown: Sequence[Look]) -> None:
    """A legend below the panels, in as many rows as its words need."""
    inches = sum(0.75 + 0.085 * len(look.label) for look in shown)
    columns = -(-len(shown) // -(-inches // fig.get_figwidth()))
    fig.legend(handles=looks.lines(shown), loc="outside lower center", ncols=int(columns), handlelength=3)


def _curve(axis: Axes, rows: pl.DataFrame, look: Look, top: bool) -> None:
    step, mean, error = (rows[name].fill_null(0).to_numpy() for name in ("step", "mean", "standard_error"))
    color, dashes = looks.color_of(look), looks.linestyle_of(look)
    axis.plot(step, mean, color=color, linestyle=dashes, linewidth=2 if top else 1.5, zorder=3 + top)
    axis.fill_between(step, mean - error, mean + error, color=color, alpha=0.2, linewidth=0, zorder=2)


def violin_panels(fig: Figure, means: pl.DataFrame, algorithms: Sequence[str]) -> None:
    """A panel for each domain: how performance is spread over the settings of each algorithm, a row of `means` each."""
    means = means.sort("setting")
    outlines, bars = outlines_of(means), summary_of(means)
    domains, shown, look = domains_in(means["domain"]), there(algorithms, means), looks.looks_of(algorithms)
    for axis, domain in zip(_panels(fig, len(domains)), domains, strict=True):
        for x, name in enumerate(shown):
            if not (bar := bars.filter(domain=domain, algorithm=name)).is_empty():
                outline = outlines.filter(domain=domain, algorithm=name)
                scores = means.filter(domain=domain, algorithm=name)["mean"].to_numpy()
                _violin(axis, x, outline, bar.row(0, named=True), scores, looks.color_of(look[name]))
        axis.set_title(title_of(domain))
        axis.set_xlim(-0.6, len(shown) - 0.4)
        axis.set_xticks(range(len(shown)), [label_of(name) for name in shown])
        axis.tick_params(axis="x", length=0, rotation=90 if len(shown) > CROWDED else 0)
        axis.grid(False, axis="x")
        if _leftmost(axis):
            axis.set_ylabel("return, mean over all steps")
    solid, dashed = {"color": style.BLACK, "linewidth": 1.4}, {"color": style.BLACK, "linewidth": 1.4}
    handles = [
        Line2D([], [], **solid, label="maximum, mean and minimum over settings"),
        Line2D([], [], **dashed, linestyle=(0, (2, 1.2)), label="median"),
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=2)


def _violin(axis: Axes, x: int, outline: pl.DataFrame, bar: dict[str, Any], scores: Array, color: str) -> None:
    y, density = outline["performance"].to_numpy(), outline["density"].to_numpy()
    width = 0.4 * density / density.max()
    if bar["settings"] > 1:
        axis.fill_betweenx(y, x - width, x + width, color=color, alpha=0.45, linewidth=0)
        axis.vlines(x, bar["min"], bar["max"], color=color, linewidth=0.8)
    for name, length, dashes in (
        ("max", 0.24, "-"),
        ("mean", 0.3, "-"),
        ("min", 0.24, "-"),
        ("median", 0.3, (0, (2, 1.2))),
    ):
        axis.hlines(bar[name], x - length, x + length, color=color, linewidth=1.8, linestyle=dashes, zorder=3)
    if len(scores) <= DOTS:
        axis.plot(np.full(len(scores), x), scores, "o", color=style.BLACK, markersize=2.2, zorder=4)


def run_stacks(fig: Figure, performances: pl.DataFrame, algorithms: Sequence[str]) -> None:
    """Rows of algorithms, columns of domains: the runs of one setting each, as a histogram and a kernel density."""
    domains, shown, look = (
        domains_in(performances["domain"]),
        there(algorithms, performances),
        looks.looks_of(algorithms),
    )
    axes = fig.subplots(len(shown), len(domains), sharex="col", squeeze=False)
    histograms, densities = analysis.run_histograms(performances), analysis.run_densities(performances)
    for column, domain in enumerate(domains):
        for row, name in enumerate(shown):
            axis, color = axes[row, column], looks.color_of(look[name])
            bars = histograms.filter(domain=domain, algorithm=name)
            if bars.is_empty():
                axis.text(0.5, 0.4, "no runs", ha="center", color=style.GREY, transform=axis.transAxes)
                axis.set_yticks([])
            else:
                distribution(axis, bars, densities.filter(domain=domain, algorithm=name), color)
                mean = performances.filter(domain=domain, algorithm=name)["performance"].mean()
                axis.axvline(mean, color=style.BLACK, linewidth=1, linestyle=(0, (2, 1.2)))
                axis.set_ylim(0)
                axis.yaxis.set_major_locator(MaxNLocator(3))
            if not column:
                axis.set_ylabel(look[name].label, color=color, fontweight="bold")
        axes[0, column].set_title(title_of(domain))
        axes[-1, column].xaxis.set_major_locator(MaxNLocator(3))  # four of "-1500" would touch
    fig.supxlabel(LATE_RETURN, fontsize=10)
    fig.supylabel("proportion of runs", fontsize=10)


def distribution(
    axis: Axes,
    bars: pl.DataFrame,
    outline: pl.DataFrame,
    color: str,
    base: float = 0.0,
    scale: float = 1.0,
    alpha: float = 1.0,
) -> None:
    """A histogram with its kernel density, both as proportions of runs a bin."""
    low, high, share = (bars[name].to_numpy() for name in ("low", "high", "proportion"))
    edges = np.append(low, high[-1])
    axis.stairs(base + scale * share, edges, baseline=base, fill=True, color=color, alpha=0.35 * alpha, linewidth=0)
    x, y = outline["performance"].to_numpy(), scale * (high[0] - low[0]) * outline["density"].to_numpy()
    axis.plot(x, base + y, color=color, linewidth=1.5, alpha=alpha)


def sensitivity_panels(fig: Figure, table: pl.DataFrame, algorithms: Sequence[str], hyperparameter: str) -> None:
    """A panel for each domain: mean return of the best setting for each value, with its interval over runs."""
    domains, look = domains_in(table["domain"]), looks.looks_of(algorithms)
    for axis, domain in zip(_panels(fig, len(domains)), domains, strict=True):
        for name in there(algorithms, rows := table.filter(domain=domain)):
            mine = rows.filter(algorithm=name).sort(hyperparameter)
            x, mean, low, high = (mine[k].to_numpy() for k in (hyperparameter, "mean", "low", "high"))
            axis.plot(x, mean, markersize=4, **looks.line_options(look[name]))
            axis.fill_between(x, low, high, color=looks.color_of(look[name]), alpha=0.15, linewidth=0)
        _scale_values(axis, table[hyperparameter].unique().sort().to_numpy())
        axis.set_title(title_of(domain))
        axis.set_xlabel(named_axis(hyperparameter))
        if _leftmost(axis):
            axis.set_ylabel(LATE_RETURN.replace(", ", ",\n"))
    _name_lines(fig, [look[name] for name in there(algorithms, table)])


def _scale_values(axis: Axes, values: Array) -> None:
    """A logarithmic axis where values lie far apart, labeled at those that were tried, or at every second or third."""
    if values[0] > 0 and values[-1] >= 10 * values[0]:
        axis.set_xscale("log")
        shown = values[:: -(-len(values) // LABELS)]
        axis.set_xticks(shown, [as_math(value) for value in shown])
        axis.set_xticks([], minor=True)


def named_axis(hyperparameter: str) -> str:
    """A hyperparameter as an axis names it.

    >>> named_axis("step_size"), named_axis("lam")
    ('step size', 'λ')
    """
    return {"lam": "λ"}.get(hyperparameter, hyperparameter.replace("_", " "))


def _columns(count: int) -> int:
    return count if count < 4 else 2 if count == 4 else 3


def _panels(fig: Figure, count: int) -> list[Axes]:
    columns = _columns(count)
    axes = fig.subplots(-(-count // columns), columns, squeeze=False).ravel()
    for axis in axes[count:]:
        axis.set_axis_off()
    return list(axes[:count])


def _leftmost(axis: Axes) -> bool:
    place = axis.get_subplotspec()
    return place is not None and place.is_first_col()


def size_of(count: int) -> tuple[float, float]:
    """Inches of a figure with a panel for each of so many domains."""
    columns = _columns(count)
    return max(4.6, {1: 5.6, 2: 8.0, 3: 9.6}.get(columns, 8.6)), 1.6 + 2.5 * -(-count // columns)
