"""Figures. Each has a table (computed by `gpbe.experiments`) and a drawing of that table; both are written out."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

import polars as pl
from matplotlib.figure import Figure

from gpbe.errors import InputError
from gpbe.experiments import aliased as aliased_table
from gpbe.experiments import aliased_learned as aliased_learned_table
from gpbe.experiments import baird as baird_table
from gpbe.experiments import corrections as corrections_table
from gpbe.experiments import geometry as geometry_table
from gpbe.experiments import identifiability_learned as identifiability_learned_table
from gpbe.experiments import kolter as kolter_table
from gpbe.experiments import prediction as prediction_table
from gpbe.experiments import random_walk as random_walk_table
from gpbe.experiments import tde_bias as tde_bias_table
from gpbe.experiments import weightings as weightings_table
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

Scale = Literal["smoke", "quick", "paper"]
"""Seconds, for tests; minutes on two cores; as large as in the paper."""

Advance = Callable[[int], None]


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the paper: what it shows, how its table is made and how that is drawn."""

    describe: str
    table: Callable[[int, Advance], pl.DataFrame]
    draw: Callable[[pl.DataFrame], Figure]
    work: dict[Scale, int]
    """How large it is at each scale, in `unit`s."""
    unit: str


SWEEP: dict[Scale, int] = {
    "smoke": prediction_table.SMOKE.work,
    "quick": prediction_table.QUICK.work,
    "paper": prediction_table.PAPER.work,
}
FIGURES: dict[str, FigureSpec] = {
    "random-walk": FigureSpec(
        "value error of the fixed points of PBE and BE under three weightings, 19-state random walk",
        lambda draws, advance: random_walk_table.run(draws, advance=advance),
        random_walk.draw,
        {"smoke": 200, "quick": 100_000, "paper": 1_000_000},
        "draws",
    ),
    "kolter": FigureSpec(
        "value error over all behaviours of Kolter's example, as H grows from F to everything",
        kolter_table.run,
        kolter.draw,
        {"smoke": 200, "quick": 1000, "paper": 4000},
        "behaviours",
    ),
    "aliased": FigureSpec(
        "values of the 4-state aliased example, as H grows from F to everything",
        aliased_table.run,
        aliased.draw,
        {"smoke": 21, "quick": 101, "paper": 101},
        "sets H",
    ),
    "tde-bias": FigureSpec(
        "the minimum of the TD error misses v_pi on the 5-state walk, even with a table",
        tde_bias_table.run,
        tde_bias.draw,
        {"smoke": 5, "quick": 5, "paper": 5},
        "states",
    ),
    "geometry-projection": FigureSpec(
        "the Bellman operator and the projection, repeated, as points of a three-state problem",
        geometry_table.projection,
        geometry.draw_projection,
        {"smoke": 6, "quick": 6, "paper": 6},
        "iterations",
    ),
    "geometry-objectives": FigureSpec(
        "the solutions of PBE and BE and their projection penalties, as points of a three-state problem",
        geometry_table.objectives,
        geometry.draw_objectives,
        {"smoke": 1, "quick": 1, "paper": 1},
        "problems",
    ),
    "geometry-sets": FigureSpec(
        "the sets F and H: one a part of the other, or crossing, in a three-state problem",
        geometry_table.sets,
        geometry.draw_sets,
        {"smoke": 2, "quick": 2, "paper": 2},
        "cases",
    ),
    "weightings": FigureSpec(
        "the behaviour's, the target's and the emphatic weighting on the 5-state walk and Baird's star",
        weightings_table.run,
        weightings.draw,
        {"smoke": 2, "quick": 2, "paper": 2},
        "problems",
    ),
    "corrections": FigureSpec(
        "traces with posterior and with prior corrections, transition by transition",
        corrections_table.run,
        corrections.draw,
        {"smoke": 5, "quick": 5, "paper": 5},
        "transitions",
    ),
    "baird": FigureSpec(
        "runs on Baird's star: TD diverges, gradient methods do not",
        baird_table.run,
        baird.draw,
        {"smoke": 10, "quick": 100, "paper": 500},
        "runs",
    ),
    "prediction-curves": FigureSpec(
        "linear prediction on six problems: learning curves with the best step sizes",
        prediction_table.curves,
        prediction.draw_curves,
        SWEEP,
        "runs",
    ),
    "prediction-sensitivity": FigureSpec(
        "linear prediction on six problems: how much the step size matters",
        prediction_table.sensitivity,
        prediction.draw_sensitivity,
        SWEEP,
        "runs",
    ),
    "prediction-bars": FigureSpec(
        "linear prediction on six problems: best settings compared with TDRC",
        prediction_table.bars,
        prediction.draw_bars,
        SWEEP,
        "runs",
    ),
    "spiral": FigureSpec(
        "Tsitsiklis and Van Roy's spiral: which updates diverge with a nonlinear value function",
        lambda work, advance: importlib.import_module("gpbe.experiments.spiral").run(work, advance),  # takes JAX
        spiral.draw,
        {"smoke": 24, "quick": 240, "paper": 600},
        "runs",
    ),
    "identifiability-learned": FigureSpec(
        "two problems with the same data: what each method learns in them",
        identifiability_learned_table.run,
        identifiability_learned.draw,
        {"smoke": 24, "quick": 200, "paper": 500},
        "runs",
    ),
    "aliased-learned": FigureSpec(
        "the aliased states learned by a network, as H grows from F to everything",
        aliased_learned_table.run,
        aliased_learned.draw,
        {"smoke": 6, "quick": 30, "paper": 90},
        "runs",
    ),
}


def make(name: str, scale: str, out: Path, advance: Advance = lambda done: None) -> list[Path]:
    """Compute a figure's table, draw it, and write table and drawing into `out`. Returns what was written."""
    spec = find(name)
    if scale not in get_args(Scale):
        raise InputError(f"there is no scale {scale!r}; the scales are {', '.join(get_args(Scale))}")
    table = spec.table(spec.work[cast(Scale, scale)], advance)
    out.mkdir(parents=True, exist_ok=True)
    stem = out / name
    data = [stem.with_suffix(".parquet"), stem.with_suffix(".csv")]
    table.write_parquet(data[0])
    table.write_csv(data[1])
    return [*style.save(spec.draw(table), stem), *data]


def find(name: str, also: tuple[str, ...] = ()) -> FigureSpec:
    """One of `FIGURES`; a complaint names those in `also` too."""
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; the figures are {', '.join((*FIGURES, *also))}")
    return FIGURES[name]
