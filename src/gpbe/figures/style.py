"""How figures look: one set of colors, sizes and words for all of them."""

import io
import logging
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from gpbe.files.atomic import write_atomic, write_table

# Okabe and Ito's colors: distinct to color-blind readers and in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, BLACK, GREY, WHITE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#000000",
    "#7F7F7F",
    "#FFFFFF",
)

PALETTE = {
    "blue": BLUE,
    "orange": ORANGE,
    "green": GREEN,
    "red": RED,
    "purple": PURPLE,
    "sky": SKY,
    "yellow": YELLOW,
    "black": BLACK,
    "grey": GREY,
}
"""Colors by name, as the records of algorithms have them."""

COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)
"""The colors of curves that stand side by side."""

WEIGHTING = {"behavior": "$d_b$", "target": "$d_\\pi$", "emphatic": "$m$", "uniform": "uniform"}
METRIC = {"rmspbe": "$\\sqrt{\\mathrm{PBE}}$", "rmsve": "$\\sqrt{\\mathrm{VE}}$"}
OBJECTIVE = {"pbe": "PBE", "be": "BE", "ve": "VE", "tde": "TDE", "neu": "NEU"}

LETTERS = 13.5
"""That fit into an inch of a title."""

RC: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


@contextmanager
def figure(width: float = 6.5, height: float = 4.0) -> Iterator[Figure]:
    """A figure in the project's style, in inches. It belongs to no window system."""
    with mpl.rc_context(RC):
        yield Figure(figsize=(width, height), layout="constrained")


def add_subtitle(fig: Figure, lines: Iterable[str]) -> None:
    """Put lines below the title of a figure, and break all of them where the figure is too narrow."""
    most = int(fig.get_figwidth() * LETTERS)
    whole = (fig.get_suptitle(), *map(_shortened, lines))
    fig.suptitle("\n".join(textwrap.fill(line, most) for line in whole), fontsize=10)


def _shortened(line: str, most: int = 110) -> str:
    return line if len(line) <= most else f"{line[: most - 4].rsplit(' ', 1)[0].rstrip(';')} ..."


def plain_log(axis: Axes) -> None:
    """A logarithmic y axis that is labeled 0.1, 0.2, 0.5, 1 and so on, within the limits that it has by now."""
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    steps = (1.0,) if high / low > 200 else (1.0, 2.0, 5.0)
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)))
    axis.set_yticks([d * k for d in decades for k in steps if low <= d * k <= high])
    axis.set_ylim(low, high)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def save(fig: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and `stem`.pdf; neither holds a date, so the same figure is the same file."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it comments on the dates of matplotlib's own fonts
    return [save_as(fig, stem.with_suffix(suffix)) for suffix in (".png", ".pdf")]


def save_with_table(fig: Figure, table: pl.DataFrame, stem: Path) -> list[Path]:
    """Write the drawing (PNG and PDF) and the table behind it (Parquet and CSV)."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    tables = [write_table(stem.with_suffix(suffix), table) for suffix in (".parquet", ".csv")]
    return [*save(fig, stem), *tables]


def save_as(fig: Figure, path: Path) -> Path:
    """Write one .png or .pdf file."""
    write_atomic(path, rendered(fig, path.suffix.removeprefix(".")))
    return path


def rendered(fig: Figure, kind: str, dpi: int | None = None) -> bytes:
    """A figure as a "png" or "pdf" without a date in it."""
    file = io.BytesIO()
    with mpl.rc_context(RC):
        fig.savefig(file, format=kind, dpi=dpi, metadata={"CreationDate": None} if kind == "pdf" else None)
    return file.getvalue()
