"""Values of three states as points of space: projections, solutions, and the sets F and H."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gpbe.figures import style
from gpbe.figures.space import Scene, place

SCALED = "points are $D^{1/2}v$, so lengths and right angles are those of $\\|\\cdot\\|_d$ with $d = d_b$"
"""What the reader of every picture here has to know."""

V_PI, V_PBE, V_BE = "$v_\\pi$", "$v_{\\mathrm{PBE}}$", "$v_{\\mathrm{BE}}$"
BEST = "$\\Pi v_\\pi$"


def _line(label: str, color: str, **look) -> Line2D:
    return Line2D([], [], color=color, label=label, **look)


def _operator() -> Line2D:
    return _line("Bellman operator $T$", style.ORANGE)


def _legend(fig: Figure, handles: list) -> None:
    legend = fig.legend(handles=handles, loc="outside lower center", ncols=3, title=SCALED, title_fontsize=9)
    legend.get_title().set_color(style.GREY)


def draw_projection(table: pl.DataFrame) -> Figure:
    """T takes the values off the plane F, the projection takes them back, until the two cancel."""
    v_pi, best, pbe, after = (place(table, name) for name in ("v_pi", "best", "pbe", "T pbe"))
    steps = table.filter(name="T v").height
    with style.figure(6.5, 3.3) as fig:
        scene = Scene(fig.subplots(), azimuth=38, elevation=25)
        floor = scene.floor([place(table, "v"), best, pbe], turn=18, margin=0.7)
        scene.area(floor, style.SKY)
        scene.text(floor[0], "F = H", (2, 8), style.BLUE)
        for k in range(steps):
            start, up, down = place(table, "v", k), place(table, "T v", k), place(table, "v", k + 1)
            scene.arrow(start, up, style.ORANGE)
            scene.arrow(up, down, style.GREY, linestyle="--", linewidth=1)
        for k in range(steps + 1):
            scene.dot(place(table, "v", k), style.RED, size=4)
        scene.drop(v_pi, best)
        scene.line([pbe, v_pi], style.BLACK, linestyle=":")
        scene.arrow(pbe, after, style.ORANGE)
        scene.square(best, v_pi, pbe)
        scene.square(place(table, "v", 1), place(table, "T v"), place(table, "v"))
        scene.dot(v_pi, style.BLACK)
        scene.dot(best, style.BLACK, filled=False)
        scene.dot(pbe, style.BLUE)
        scene.dot(after, style.BLUE, filled=False)
        scene.text(v_pi, V_PI, (0, 6))
        scene.text(best, BEST, (0, -6))
        scene.text((pbe + v_pi) / 2, "$\\sqrt{\\mathrm{VE}}$", (6, 4))
        scene.text(pbe, f"{V_PBE} = $\\Pi T${V_PBE}", (0, -6), style.BLUE)
        scene.text(after, f"$T${V_PBE}", (0, 6), style.BLUE)
        scene.text(place(table, "v"), "$v_0$", (6, 0), style.RED)
        scene.text(place(table, "T v"), "$T v_0$", (6, 4), style.ORANGE)
        scene.text(place(table, "v", 1), "$v_1 = \\Pi T v_0$", (4, -6), style.RED)
        fig.suptitle("The PBE's solution: what T adds off the plane, the projection takes away", fontsize=11)
        _legend(fig, [_operator(), _line("projection $\\Pi$", style.GREY, linestyle="--", linewidth=1)])
    return fig


def draw_objectives(table: pl.DataFrame) -> Figure:
    """The solutions of PBE and BE in the plane F, where T takes each, and how large the parts of its BE are."""
    v_pi, best, pbe, after_pbe = (place(table, name) for name in ("v_pi", "ve", "pbe", "T pbe"))
    be, after_be, back_be = (place(table, name) for name in ("be", "T be", "Pi T be"))
    with style.figure(6.5, 5.2) as fig:
        top, bottom = fig.subplots(2, 1, height_ratios=[2.6, 1])
        scene = Scene(top, azimuth=35, elevation=28)
        floor = scene.floor([best, pbe, be, back_be], turn=14, margin=0.55)
        scene.area(floor, style.SKY)
        scene.text(floor[0], "F", (2, 8), style.BLUE)
        scene.drop(v_pi, best)
        for solution, after, back in ((pbe, after_pbe, pbe), (be, after_be, back_be)):
            scene.line([solution, v_pi], style.BLACK, linestyle=":")
            scene.line([after, back], style.PURPLE, linewidth=2.5)
            scene.line([solution, back], style.BLUE, linewidth=2.5)
        scene.arrow(be, after_be, style.ORANGE)
        scene.square(best, v_pi, pbe)
        scene.square(back_be, after_be, be)
        scene.square(pbe, after_pbe, 2 * pbe - best)
        for point, color, filled in (
            (v_pi, style.BLACK, True),
            (best, style.BLACK, False),
            (pbe, style.BLUE, True),
            (after_pbe, style.BLUE, False),
            (be, style.GREEN, True),
            (after_be, style.GREEN, False),
        ):
            scene.dot(point, color, filled)
        scene.text(v_pi, V_PI, (0, 6))
        scene.text(best, BEST, (-6, 0))
        scene.text((pbe + v_pi) / 2, "$\\sqrt{\\mathrm{VE}}$", (6, 4))
        scene.text(pbe, V_PBE, (0, -6), style.BLUE)
        scene.text(after_pbe, f"$T${V_PBE}", (0, 6), style.BLUE)
        scene.text(be, V_BE, (6, -2), style.GREEN)
        scene.text(after_be, f"$T${V_BE}", (-5, -4), style.GREEN)
        _parts(bottom, table)
        fig.suptitle("The BE's solution trades some PBE for a smaller projection penalty", fontsize=11)
        _legend(fig, bottom.get_legend_handles_labels()[0])
    return fig


def _parts(axis: Axes, table: pl.DataFrame) -> None:
    """BE = PBE + penalty as a bar for each solution, and its VE as a mark."""
    names = {"ve": BEST, "be": V_BE, "pbe": V_PBE}
    rows = [table.filter(name=name).row(0, named=True) for name in names]
    projected, penalty = ([row[part] for row in rows] for part in ("projected_bellman_error", "penalty"))
    axis.barh(range(3), projected, 0.6, color=style.BLUE, label="PBE")
    axis.barh(
        range(3), penalty, 0.6, left=projected, color=style.PURPLE, label="projection penalty (PBE + penalty = BE)"
    )
    axis.plot([r["value_error"] for r in rows], range(3), "D", color=style.BLACK, markersize=5, label="VE")
    axis.set_yticks(range(3), list(names.values()))
    axis.set_xticks(range(0, 21, 5))
    axis.set_xlabel("squared length under $d_b$")
    axis.grid(False, axis="y")


def draw_sets(table: pl.DataFrame) -> Figure:
    """For v in F, PBE(v) is the squared distance between the projections on H of v and T v."""
    with style.figure(6.5, 4.1) as fig:
        left, right = fig.subplots(1, 2, width_ratios=[5.8, 4.4])
        _part_of(Scene(left, azimuth=-40, elevation=30), table.filter(panel="a"))
        _crossing(Scene(right, azimuth=215, elevation=30), table.filter(panel="b"))
        fig.suptitle("The PBE compares $v$ and $T v$ as H sees them: by their projections on H", fontsize=11)
        onto = _line("projection $\\Pi_H$", style.GREY, linestyle="--", linewidth=1)
        _legend(fig, [_operator(), onto, _line("$\\sqrt{\\mathrm{PBE}(v)}$", style.BLUE, linewidth=2.5)])
    return fig


def _part_of(scene: Scene, rows: pl.DataFrame) -> None:
    """(a): F is a line in the plane H."""
    direction = place(rows, "F")
    ends = np.array([-3.2 * direction, 0.6 * direction])
    floor = scene.floor([*ends, place(rows, "Pi T v", 0), place(rows, "Pi T v", 1)], turn=15, margin=0.3)
    scene.area(floor, style.SKY)
    scene.line(ends, style.GREEN)
    for step in (0, 1):
        _compare(scene, rows, step)
    scene.text(floor[0], "H", (2, 8), style.BLUE)
    scene.text(ends[1], "F", (6, 0), style.GREEN)
    scene.text(place(rows, "v", 0), "$v$", (0, 6), style.RED)
    scene.text(place(rows, "T v", 0), "$T v$", (0, 6), style.ORANGE)
    scene.text(place(rows, "v", 1), "$v'$", (-4, 6), style.RED)
    scene.text(place(rows, "T v", 1), "$T v'$ in H", (6, 0), style.ORANGE)
    scene.show(5.8, 4.6)
    scene.axis.set_title("(a) F is a part of H", fontsize=10)


def _crossing(scene: Scene, rows: pl.DataFrame) -> None:
    """(b): F and H are planes that meet in a line; below H, F is drawn first, so that H covers it."""
    along, beside = place(rows, "F", 0), place(rows, "F", 1)
    along = along / np.linalg.norm(along)
    beside = beside - beside @ along * along
    beside = beside / np.linalg.norm(beside)
    near, far = -1.3 * along, 2.0 * along
    scene.area([near, far, far - 0.6 * beside, near - 0.6 * beside], style.GREEN, zorder=0.5)
    feet = [place(rows, name, step) for name in ("Pi v", "Pi T v") for step in (0, 1)]
    floor = scene.floor([*feet, near, far], turn=15, margin=0.3)
    scene.area(floor, style.SKY, alpha=0.25)
    top = [near + 2.4 * beside, far + 2.4 * beside]
    scene.area([near, far, *top[::-1]], style.GREEN, zorder=1.5)
    scene.line([near, far], style.GREEN)
    for step in (0, 1):
        _compare(scene, rows, step)
    scene.text(floor[0], "H", (2, 8), style.BLUE)
    scene.text(top[0], "F", (-8, -4), style.GREEN)
    scene.text(place(rows, "v", 0), "$v$", (6, 0), style.RED)
    scene.text(place(rows, "T v", 0), "$T v$", (0, 6), style.ORANGE)
    scene.text(place(rows, "v", 1), V_PBE, (6, 0), style.RED)
    scene.text(place(rows, "T v", 1), f"$T${V_PBE}", (0, 6), style.ORANGE)
    scene.dot(place(rows, "Pi v", 1), style.BLUE, size=4)
    scene.text(place(rows, "Pi v", 1), "PBE = 0", (0, -6), style.BLUE)
    scene.show(4.4, 4.6)
    scene.axis.set_title("(b) F and H cross", fontsize=10)


def _compare(scene: Scene, rows: pl.DataFrame, step: int) -> None:
    v, foot, after, back = (place(rows, name, step) for name in ("v", "Pi v", "T v", "Pi T v"))
    scene.line([foot, back], style.BLUE, linewidth=2.5)
    scene.drop(after, back)
    if rows.filter(name="v", step=step)["projected_bellman_error"].item() > 1e-9:  # otherwise they drop on one line
        scene.drop(v, foot)
    scene.arrow(v, after, style.ORANGE)
    scene.dot(v, style.RED, size=5)
    scene.dot(after, style.ORANGE, filled=False, size=5)
