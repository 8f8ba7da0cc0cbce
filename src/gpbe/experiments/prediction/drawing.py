"""Linear prediction on six small problems: learning curves, sensitivity to the step size, and a comparison."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gpbe.algorithms.linear import ALGORITHMS as RECORDS
from gpbe.experiments.prediction.computation import ALGORITHMS
from gpbe.figures import looks, style
from gpbe.wording import as_math

PROBLEM = {
    "tabular": "random walk, tabular",
    "inverted": "random walk, inverted",
    "dependent": "random walk, dependent",
    "boyan": "Boyan's chain (on-policy)",
    "baird": "Baird's star",
    "collision": "Collision",
}
BAR_TOP = 2.0
"""Longer bars are cut off there, and say how long they are."""


def draw_curves(table: pl.DataFrame) -> Figure:
    """The PBE and the VE of each problem while learning, each with the settings that make its own area smallest."""
    problems = _there(PROBLEM, table["problem"])
    with style.figure(8.6, 9.6) as fig:
        axes = fig.subplots(4, len(problems) // 2, sharex=True, squeeze=False)
        for half, metric in ((axes[:2], "rmspbe"), (axes[2:], "rmsve")):
            for axis, problem in zip(half.flat, problems, strict=True):
                rows = table.filter(problem=problem, metric=metric)
                for algorithm in _there(ALGORITHMS, rows["algorithm"]):
                    _band(axis, rows.filter(algorithm=algorithm), algorithm)
                style.plain_log(axis)
                axis.set_title(PROBLEM[problem], fontsize=10)
                axis.set_xlim(0, rows["step"].max())
            for axis in half[:, 0]:
                axis.set_ylabel(f"{style.METRIC[metric]} under $d_b$")
        for axis in axes[-1]:
            axis.set_xlabel("transitions")
        fig.suptitle("Learning curves with the best step sizes: mean over runs and standard error", fontsize=11)
        fig.legend(handles=_handles(table), loc="outside lower center", ncols=len(ALGORITHMS))
    return fig


def _band(axis: Axes, curve: pl.DataFrame, algorithm: str) -> None:
    color, dashes = _color(algorithm), looks.linestyle_of(RECORDS[algorithm].look)
    step, mean, error = (curve[c].fill_null(0).to_numpy() for c in ("step", "mean", "standard_error"))
    axis.plot(step, mean, color=color, linestyle=dashes, linewidth=_width(algorithm))
    low = np.maximum(mean - error, mean / 10)  # a band of a logarithmic axis cannot reach 0
    axis.fill_between(step, low, mean + error, color=color, alpha=0.2, linewidth=0)


def draw_sensitivity(table: pl.DataFrame) -> Figure:
    """A panel for each problem: the area under the curve over the step size, with the best ratio for each."""
    table = table.filter(metric="rmspbe")
    problems = _there(PROBLEM, table["problem"])
    with style.figure(8.6, 6.0) as fig:
        axes = fig.subplots(2, len(problems) // 2, sharex=True, squeeze=False)
        for axis, problem in zip(axes.flat, problems, strict=True):
            rows = table.filter(problem=problem)
            nothing, bottom = rows["initial"][0], float(np.nanmin(rows["area"])) / 1.25
            top = nothing * (nothing / bottom) ** 0.35
            axis.axhline(nothing, color=style.GREY, linewidth=1, linestyle=":")
            for place, algorithm in enumerate(_there(ALGORITHMS, rows["algorithm"])):
                _swept(axis, rows.filter(algorithm=algorithm).sort("step_size"), place, top)
            axis.set_xscale("log", base=2)
            axis.set_xticks(table["step_size"].unique().sort().to_numpy()[::-3])
            axis.set_ylim(bottom, top)
            style.plain_log(axis)
            axis.set_title(PROBLEM[problem], fontsize=10)
        for axis in axes[-1]:
            axis.set_xlabel("step size")
        for axis in axes[:, 0]:
            axis.set_ylabel(f"mean of {style.METRIC['rmspbe']} over learning")
        fig.suptitle("Sensitivity to the step size, with the best ratio of step sizes for each", fontsize=11)
        extra = (
            Line2D([], [], color=style.GREY, linewidth=1, linestyle=":", label="no learning"),
            Line2D([], [], color=style.GREY, linestyle="", marker="x", markersize=4, label="runs diverged"),
        )
        fig.legend(handles=[*_handles(table, markersize=5.0), *extra], loc="outside lower center", ncols=5)
    return fig


def _swept(axis: Axes, rows: pl.DataFrame, place: int, top: float) -> None:
    """One algorithm's line, which leaves the frame where it must; crosses for divergence in a row of its own."""
    look = looks.line_options(RECORDS[rows["algorithm"][0]].look)
    size, area, error = (rows[c].fill_null(0).to_numpy() for c in ("step_size", "area", "area_error"))
    shown = np.minimum(area, 1e3 * top)
    error = np.where(shown < area, 0, error)
    axis.errorbar(size, shown, error, markersize=6 if look["marker"] == "*" else 3.5, linewidth=1.2, **look)
    diverged = size[rows["diverged"].to_numpy() > 0]
    height = np.full(len(diverged), 0.985 - 0.026 * place)
    axis.plot(diverged, height, "x", color=look["color"], markersize=3, transform=axis.get_xaxis_transform())


def draw_bars(table: pl.DataFrame) -> Figure:
    """A bar for each algorithm and problem: its area over TDRC's."""
    table = table.filter(metric="rmspbe")
    shown, problems = _there(ALGORITHMS, table["algorithm"]), _there(PROBLEM, table["problem"])
    names = [PROBLEM[p].replace(", ", ",\n").replace(" (", "\n(") for p in problems]
    width = 0.84 / len(shown)
    with style.figure(9.0, 4.4) as fig:
        axis = fig.subplots()
        for k, algorithm in enumerate(shown):
            for j, problem in enumerate(problems):
                row = table.filter(algorithm=algorithm, problem=problem).row(0, named=True)
                _bar(axis, row, j + (k - (len(shown) - 1) / 2) * width, width)
        axis.axhline(1, color=style.RED, linewidth=0.8)
        axis.set_xlim(-0.55, len(problems) - 0.45)
        axis.set_ylim(0, BAR_TOP)
        axis.set_xticks(range(len(problems)), names)
        axis.tick_params(axis="x", length=0)
        axis.grid(False, axis="x")
        axis.set_ylabel(f"mean of {style.METRIC['rmspbe']} over learning,\nrelative to TDRC")
        fig.suptitle(
            "Each algorithm with its best settings (in the bars: step size, and ratio of step sizes); lower is better",
            fontsize=11,
        )
        handles = [Line2D([], [], color=_color(a), linewidth=7, label=RECORDS[a].look.label) for a in shown]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(shown), handlelength=1.2)
    return fig


def _bar(axis: Axes, row: dict[str, Any], x: float, width: float) -> None:
    height, color = row["relative"], _color(row["algorithm"])
    inside = height <= BAR_TOP
    axis.bar(x, min(height, BAR_TOP), width * 0.92, color=color)
    if inside and row["relative_error"] is not None:
        axis.errorbar(x, height, row["relative_error"], color=style.BLACK, linewidth=1)
    sizes = [row["step_size"]] if row["ratio"] is None else [row["step_size"], row["ratio"]]
    note = ", ".join(map(as_math, sizes))
    dark = color in (style.BLACK, style.BLUE, style.RED)
    axis.annotate(
        note, (x, 0.02), ha="center", va="bottom", rotation=90, fontsize=7, color=style.WHITE if dark else style.BLACK
    )
    if not inside:
        said = f"{height:.0f}" if height < 1000 else "$\\infty$"
        axis.annotate(
            said, (x, BAR_TOP), xytext=(0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=7
        )


def _there(known: Iterable[str], column: pl.Series) -> list[str]:
    """What of the known occurs in a column, in the order in which it is drawn: TDRC last, on top."""
    there = set(column)
    return [name for name in known if name in there]


def _color(algorithm: str) -> str:
    return looks.color_of(RECORDS[algorithm].look)


def _width(algorithm: str) -> float:
    return 2.0 if algorithm == "tdrc" else 1.4


def _handles(table: pl.DataFrame, markersize: float = 0.0) -> list[Line2D]:
    return [
        Line2D([], [], linewidth=_width(a), markersize=markersize, **looks.line_options(RECORDS[a].look))
        for a in _there(ALGORITHMS, table["algorithm"])
    ]
