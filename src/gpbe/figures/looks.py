"""The looks of algorithms, as matplotlib draws them."""

from collections.abc import Iterable
from typing import Any, Literal

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gpbe.algorithms.records import Look
from gpbe.figures import style


def color_of(look: Look) -> str:
    """The color of a look."""
    return style.PALETTE[look.color]


def linestyle_of(look: Look) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    """The dashes of a look."""
    return (0.0, look.dashes) if look.dashes else "-"


def lines(looks: Iterable[Look]) -> list[Line2D]:
    """Handles of a legend for curves."""
    return [Line2D([], [], color=color_of(x), linestyle=linestyle_of(x), label=x.label) for x in looks]


def patches(looks: Iterable[Look]) -> list[Patch]:
    """Handles of a legend for areas."""
    return [Patch(color=color_of(x), label=x.label, alpha=0.8) for x in looks]


def line_options(look: Look) -> dict[str, Any]:
    """A look as options of a line with points."""
    options = {"label": look.label, "color": color_of(look), "marker": look.marker}
    return {**options, "linestyle": linestyle_of(look)}
