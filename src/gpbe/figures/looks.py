"""The looks of algorithms, as matplotlib draws them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any, Literal

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gpbe.algorithms.records import Look
from gpbe.analysis.labels import look_of
from gpbe.figures import style

FREE = tuple(name for name in style.PALETTE if name != "grey")
"""Colors that an algorithm can get in a figure; gray is that of looks which have none."""
DASHES = ((), (5.0, 1.2), (1.2, 0.8), (4.0, 1.0, 1.0, 1.0))
"""What tells lines apart where there are more algorithms than colors."""


def looks_of(algorithms: Iterable[str]) -> dict[str, Look]:
    """How one figure shows several control algorithms: as they are declared, but no two alike.

    An algorithm whose color another one before it has, or that has none, gets the first color that is free.

    >>> found = looks_of(["qrc", "qrc-huber", "my-own", "sbeed"])
    >>> [(look.label, look.color) for look in found.values()]
    [('QRC', 'blue'), ('QRC-Huber', 'orange'), ('my-own', 'green'), ('SBEED', 'red')]
    """
    declared = {name: look_of(name) for name in algorithms}
    owners: dict[str, str] = {}
    for name, look in declared.items():
        if look.color in FREE:
            owners.setdefault(look.color, name)
    kept = {(declared[name].color, declared[name].dashes) for name in owners.values()}
    pairs = ((color, dashes) for dashes, color in product(DASHES, FREE) if dashes or color not in owners)
    spare = (pair for pair in pairs if pair not in kept)
    return {
        name: look if owners.get(look.color) == name else replace(look, **_as_fields(next(spare, None)))
        for name, look in declared.items()
    }


def _as_fields(pair: tuple[str, tuple[float, ...]] | None) -> dict[str, Any]:
    """A pair of color and dashes as the fields of a look; none if every pair is taken."""
    return {} if pair is None else dict(zip(("color", "dashes"), pair, strict=True))


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
