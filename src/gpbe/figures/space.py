"""Three dimensions on paper: an orthographic view, with the few things that the geometric figures draw.

Drawn with two-dimensional axes, so that what covers what is decided by the order of drawing, and labels stay put.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from gpbe.figures import style
from gpbe.shapes import Array, Numbers


@dataclass(frozen=True)
class Scene:
    """Axes seen from a direction, in degrees: `azimuth` around z, `elevation` above the plane z = 0."""

    axis: Axes
    azimuth: int
    elevation: int

    def __post_init__(self) -> None:
        self.axis.set_aspect("equal")
        self.axis.set_axis_off()

    def screen(self, points: Numbers) -> Array:
        """Where points (..., 3) are on the page, (..., 2). Lengths across the line of sight are kept."""
        a, e = np.radians([self.azimuth, self.elevation])
        right = [-np.sin(a), np.cos(a), 0]
        up = [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)]
        return np.asarray(points, dtype=float) @ np.array([right, up]).T

    def show(self, width: float, height: float) -> None:
        """Show that much of the page around the middle of what is drawn: panels with the same size share a scale."""
        drawn = self.axis.dataLim
        x, y = (drawn.x0 + drawn.x1) / 2, (drawn.y0 + drawn.y1) / 2
        self.axis.set(xlim=(x - width / 2, x + width / 2), ylim=(y - height / 2, y + height / 2))

    def dot(self, point: Numbers, color: str, filled: bool = True, size: int = 6) -> None:
        x, y = self.screen(point)
        face = color if filled else "white"
        self.axis.plot(x, y, "o", color=color, markerfacecolor=face, markersize=size, markeredgewidth=1.4, zorder=5)

    def text(self, point: Numbers, text: str, offset: tuple[int, int], color: str = style.BLACK) -> None:
        """Text beside a point, `offset` in units of printer's points; it grows away from the point."""
        dx, dy = offset
        self.axis.annotate(
            text,
            tuple(self.screen(point)),
            xytext=offset,
            textcoords="offset points",
            ha="left" if dx > 0 else "right" if dx < 0 else "center",
            va="bottom" if dy > 0 else "top" if dy < 0 else "center",
            color=color,
            fontsize=10,
            zorder=6,
        )

    def line(self, points: Numbers, color: str, **options) -> None:
        """Through points (n, 3)."""
        x, y = self.screen(points).T
        self.axis.plot(x, y, color=color, **{"linewidth": 1.2, "zorder": 3, **options})

    def drop(self, point: Numbers, foot: Numbers) -> None:
        """The way from a point to its projection."""
        self.line([point, foot], style.GREY, linestyle="--", linewidth=1)

    def arrow(self, start: Numbers, end: Numbers, color: str, **options) -> None:
        properties = {
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": 1.3,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 9,
        }
        self.axis.annotate(
            "", tuple(self.screen(end)), tuple(self.screen(start)), arrowprops=properties | options, zorder=4
        )

    def area(self, corners: Numbers, color: str, alpha: float = 0.15, zorder: float = 1) -> None:
        """A part of a plane."""
        patch = Polygon(self.screen(corners), facecolor=color, edgecolor="none", alpha=alpha, zorder=zorder)
        self.axis.add_patch(patch)

    def floor(self, points: Numbers, turn: int, margin: float) -> Array:
        """Corners of a rectangle in z = 0 around points (n, 3), nearest first, its sides turned against the view."""
        t = np.radians(self.azimuth + turn)
        ways = np.array([[np.cos(t), np.sin(t), 0], [-np.sin(t), np.cos(t), 0]])
        along = np.asarray(points, dtype=float) @ ways.T
        (x0, y0), (x1, y1) = along.min(0) - margin, along.max(0) + margin
        return np.array([(x1, y0), (x1, y1), (x0, y1), (x0, y0)]) @ ways

    def square(self, corner: Numbers, one: Numbers, other: Numbers, size: float = 0.18) -> None:
        """The sign of a right angle at `corner` between the ways to two other points."""
        corner = np.asarray(corner, dtype=float)
        a, b = (size * (p - corner) / np.linalg.norm(p - corner) for p in map(np.asarray, (one, other)))
        self.line([corner + a, corner + a + b, corner + b], style.GREY, linewidth=0.8)


def place(table: pl.DataFrame, name: str, step: int = 0) -> Array:
    """The coordinates of a named point of a geometric table."""
    return table.filter(name=name, step=step).select("x", "y", "z").to_numpy()[0]
