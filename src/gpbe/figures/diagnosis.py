"""What a diagnosis found, as four panels: values, visits, eigenvalues, and errors against lambda."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from gpbe.analysis.diagnosis import Tables
from gpbe.figures import style

FEW = 24
"""States that have a place of their own on the axis; of more there is a line."""
LETTERS = 38
"""How many letters the names of all states may have together to fit side by side."""
COLOR = {"behavior": style.BLUE, "target": style.SKY, "emphatic": style.ORANGE}
CURVES: dict[tuple[str, str], tuple[str, str, str]] = {
    ("v_pi", ""): ("$v_\\pi$", style.BLACK, "_"),
    ("ve", "behavior"): ("VE, $d_b$ (best)", style.GREY, "D"),
    ("pbe", "behavior"): ("PBE, $d_b$ (TD, TDRC)", COLOR["behavior"], "o"),
    ("pbe", "target"): ("PBE, $d_\\pi$", COLOR["target"], "v"),
    ("pbe", "emphatic"): ("PBE, $m$ (emphatic)", COLOR["emphatic"], "^"),
    ("be", "behavior"): ("BE, $d_b$", style.GREEN, "s"),
    ("tde", "behavior"): ("TDE, $d_b$", style.RED, "X"),
}
"""Label, color and marker of each curve of values."""
METHOD = {"behavior": "off-policy TD, $d_b$", "target": "alternative-life TD, $d_\\pi$", "emphatic": "ETD, $m$"}
SIZE = (4.9, 3.9)
"""The size of one panel that stands alone, in inches: on a phone its letters are as large as those around it."""


def draw(tables: Tables, title: str) -> Figure:
    """All panels on one page."""
    with style.figure(2 * SIZE[0] + 0.4, 2 * SIZE[1] + 0.4) as fig:
        for part, name in zip(np.asarray(fig.subfigures(2, 2)).ravel(), PANELS, strict=True):
            _panel(part, tables, name)
        fig.suptitle(title, fontsize=12, parse_math=False)
    return fig


def draw_each(tables: Tables) -> dict[str, Figure]:
    """Every panel as a figure of its own, by what it shows."""
    found = {}
    for name in PANELS:
        with style.figure(*SIZE) as fig:
            _panel(fig, tables, name)
        found[name] = fig
    return found


def values_panel(axis: Axes, values: pl.DataFrame) -> None:
    """The values that each objective has at its minimum, beside v_pi."""
    few = values["state"].n_unique() <= FEW
    for k, ((objective, weighting), (label, color, marker)) in enumerate(CURVES.items()):
        rows = values.filter(objective=objective, weighting=weighting)
        x, y = rows["state"].to_numpy(), rows["value"].to_numpy()
        if not few:
            behind: dict[str, Any] = {"linewidth": 4, "alpha": 0.3} if k == 0 else {"linewidth": 1.2}
            axis.plot(x, y, color=color, label=label, **behind)
        elif k == 0:
            axis.hlines(y, x - 0.42, x + 0.42, color=color, linewidth=2, label=label)
        else:
            axis.plot(x + 0.1 * (k - 3.5), y, marker, color=color, markersize=5, label=label, alpha=0.9)
    axis.set_ylabel("value")
    _states(axis, values, few)


def visits_panel(axis: Axes, visits: pl.DataFrame) -> None:
    """Where the policies spend their time, and what ETD weights states by."""
    few = visits["state"].n_unique() <= FEW
    labels = {"behavior": "behavior, $d_b$", "target": "target, $d_\\pi$", "emphatic": "emphatic, $m$"}
    for k, (name, label) in enumerate(labels.items()):
        rows = visits.filter(weighting=name)
        x, y = rows["state"].to_numpy(), rows["share"].to_numpy()
        if few:
            axis.bar(x + 0.27 * (k - 1), y, width=0.25, color=COLOR[name], label=label)
        else:
            axis.plot(x, y, color=COLOR[name], label=label, linewidth=1.4)
    axis.set_ylim(0)
    axis.set_ylabel("share of time or weight")
    _states(axis, visits, few)


def eigenvalues_panel(axis: Axes, eigenvalues: pl.DataFrame) -> None:
    """Eigenvalues of A in the plane, the largest of each weighting at 1: TD converges if all are right of 0."""
    found = eigenvalues.with_columns(pl.col("real", "imaginary") / pl.max_horizontal("size", pl.lit(1e-300)))
    for name, marker, size in (("target", "v", 6), ("emphatic", "^", 6), ("behavior", "o", 9)):
        rows = found.filter(weighting=name)
        x, y = rows["real"].to_numpy(), rows["imaginary"].to_numpy()
        face = "none" if name == "behavior" else COLOR[name]
        label = f"{METHOD[name]}: {rows['verdict'][0]}"
        axis.plot(x, y, marker, color=COLOR[name], markerfacecolor=face, markersize=size, label=label, zorder=3)
    x, y = (found[part].to_numpy() for part in ("real", "imaginary"))
    low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
    margin = 0.08 * (high - low) or 1.0
    tall = max(1.15 * float(np.abs(y).max()), 0.25 * (high - low), 1e-12)
    axis.set_xlim(low - 2 * margin, high + margin)
    axis.set_ylim(-tall, tall)
    axis.axvspan(low - 2 * margin, 0, color=style.RED, alpha=0.12, linewidth=0, zorder=0)
    axis.axvline(0, color=style.BLACK, linewidth=0.8, zorder=1)
    axis.set_xlabel("real part, over the largest (left of 0: errors grow)")
    axis.set_ylabel("imaginary part")


def lambdas_panel(axis: Axes, lambdas: pl.DataFrame) -> None:
    """How large the error is at what TD(lambda) converges to; ringed where it does not get there."""
    errors = lambdas["error"].to_numpy()
    for name, marker in (("target", "v"), ("emphatic", "^"), ("behavior", "o")):
        rows = lambdas.filter(weighting=name).sort("lambda")
        x, y = rows["lambda"].to_numpy(), rows["error"].to_numpy()
        axis.plot(x, y, color=COLOR[name], linewidth=1.4, marker=marker, markersize=4, label=METHOD[name])
    lost = rows.filter(converges=False)
    if len(lost):
        looks: dict[str, Any] = {"color": COLOR["behavior"], "markerfacecolor": "none", "markersize": 9}
        axis.plot(lost["lambda"], lost["error"], "o", label="off-policy TD diverges", **looks)
    axis.axhline(lambdas["best"][0], color=style.GREY, linewidth=1.2, linestyle=(0, (4, 2)), label="best possible")
    if errors.min() > 0 and errors.max() > 30 * errors.min():
        axis.set_ylim(min(errors.min(), lambdas["best"][0] or errors.min()) / 1.2, 1.2 * errors.max())
        style.plain_log(axis)
    else:
        top = 1.12 * errors.max() or 1.0
        axis.set_ylim(-0.04 * top, top)
    axis.set_xlabel("trace parameter λ")
    axis.set_ylabel("RMS value error under $d_b$")


PANELS: dict[str, tuple[str, int, Callable[[Axes, Any], None]]] = {
    "values": ("What each objective's minimum says", 3, values_panel),
    "visits": ("Where the policies spend their time", 3, visits_panel),
    "eigenvalues": ("Eigenvalues of A", 1, eigenvalues_panel),
    "lambdas": ("Error against λ", 2, lambdas_panel),
}
"""The panel for each table: its title, the columns of its legend, and its drawing."""


def _panel(fig: FigureBase, tables: Tables, name: str) -> None:
    title, columns, panel = PANELS[name]
    axis = fig.subplots()
    panel(axis, getattr(tables, name))
    axis.set_title(title, loc="left")
    fig.legend(loc="outside lower center", ncols=columns, fontsize=8, columnspacing=1.2)


def _states(axis: Axes, table: pl.DataFrame, few: bool) -> None:
    axis.set_xlabel("state")
    axis.grid(axis="x", visible=False)
    if few:
        rows = table.unique("state").sort("state")
        names = rows["name"].to_list()
        turned: dict[str, Any] = {"rotation": 90} if sum(map(len, names)) > LETTERS else {}
        axis.set_xticks(rows["state"].to_list(), [_short(name) for name in names], parse_math=False, **turned)
        axis.tick_params(axis="x", length=0, labelsize=10 if len(names) <= 12 else 8)


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
