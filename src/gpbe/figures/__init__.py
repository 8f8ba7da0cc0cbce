"""Figures. Each is a drawing of a table that stored results give; both are written out. No figure computes results.

Those of the paper's control experiments are in `gpbe.figures.control`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from gpbe.errors import InputError
from gpbe.experiments import prediction as prediction_table
from gpbe.experiments import random_walk as random_walk_table
from gpbe.experiments.studies import STUDIES
from gpbe.figures import (
    aliased,
    aliased_learned,
    baird,
    corrections,
    geometry,
    identifiability_learned,
    kolter,
    prediction,
    random_walk,
    spiral,
    style,
    tde_bias,
    weightings,
)


@dataclass(frozen=True)
class FigureSpec:
    """How the results of a study are drawn."""

    study: str
    draw: Callable[[pl.DataFrame], Figure]
    """From its table."""
    table: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows
    """From the study's rows, if that is more than the rows themselves."""
    looks_at: str = ""
    """What it shows of a study that has several figures."""

    @property
    def describe(self) -> str:
        about = STUDIES[self.study].describe
        return f"{about.partition(':')[0]}: {self.looks_at}" if self.looks_at else about


FIGURES: dict[str, FigureSpec] = {
    "random-walk": FigureSpec("random-walk", random_walk.draw, random_walk_table.table),
    "kolter": FigureSpec("kolter", kolter.draw),
    "aliased": FigureSpec("aliased", aliased.draw),
    "tde-bias": FigureSpec("tde-bias", tde_bias.draw),
    "geometry-projection": FigureSpec("geometry-projection", geometry.draw_projection),
    "geometry-objectives": FigureSpec("geometry-objectives", geometry.draw_objectives),
    "geometry-sets": FigureSpec("geometry-sets", geometry.draw_sets),
    "weightings": FigureSpec("weightings", weightings.draw),
    "corrections": FigureSpec("corrections", corrections.draw),
    "baird": FigureSpec("baird", baird.draw),
    "prediction-curves": FigureSpec(
        "prediction", prediction.draw_curves, prediction_table.curves, "learning curves with the best step sizes"
    ),
    "prediction-sensitivity": FigureSpec(
        "prediction", prediction.draw_sensitivity, prediction_table.sensitivity, "how much the step size matters"
    ),
    "prediction-bars": FigureSpec(
        "prediction", prediction.draw_bars, prediction_table.bars, "best settings compared with TDRC"
    ),
    "spiral": FigureSpec("spiral", spiral.draw),
    "identifiability-learned": FigureSpec("identifiability-learned", identifiability_learned.draw),
    "aliased-learned": FigureSpec("aliased-learned", aliased_learned.draw),
}


def make(name: str, rows: pl.DataFrame, out: Path) -> list[Path]:
    """Draw a figure from its study's rows; write drawing and table into `out`. Returns what was written."""
    spec = find(name)
    table = spec.table(rows)
    return style.save_with_table(spec.draw(table), table, out / name)


def find(name: str, also: tuple[str, ...] = ()) -> FigureSpec:
    """One of `FIGURES`; a complaint names those in `also` too."""
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; the figures are {', '.join((*FIGURES, *also))}")
    return FIGURES[name]
